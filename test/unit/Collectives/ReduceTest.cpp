//===- ReduceTest.cpp - Sums of pieces in the order of ranks --------------===//

#include "TestNumbers.h"

#include <gtest/gtest.h>

using namespace weft;

namespace {

std::vector<char> sumOf(int32_t type, int ranks, int64_t elements,
                        const Divisors &by) {
  std::vector<std::vector<char>> pieces;
  std::vector<const void *> at;
  for (int rank = 0; rank < ranks; ++rank)
    pieces.push_back(numbersOf(type, rank, elements));
  for (const auto &piece : pieces)
    at.push_back(piece.data());
  std::vector<char> out(pieces[0].size());
  sumPieces(type, at.data(), ranks, elements, out.data(), by.pre, by.post);
  return out;
}

TEST(SumPieces, AddsInTheOrderOfRanks) {
  for (int32_t type : kSumTypes)
    for (int ranks : {1, 2, 3, 5, 8})
      for (int64_t elements : {1, 1023, 1024, 1025, 5000})
        for (const Divisors &by :
             {Divisors{}, Divisors::ofMean(ranks), Divisors{3, 7}})
          EXPECT_EQ(sumOf(type, ranks, elements, by),
                    plainSum(type, ranks, elements, by))
              << dtypeName(type) << " " << ranks << " " << elements;
}

template <typename Bits, typename Make>
Bits sumOfEight(int32_t type, float value, const Divisors &by, Make make) {
  const Bits one = make(value);
  std::vector<const void *> at(8, &one);
  Bits out;
  sumPieces(type, at.data(), 8, 1, &out, by.pre, by.post);
  return out;
}

// 8 ranks: what dividing at one end loses.
TEST(SumPieces, KeepsLargeAndSmallHalves) {
  auto sum = [](float value, const Divisors &by) {
    return halfToFloat(sumOfEight<uint16_t>(WEFT_F16, value, by, floatToHalf));
  };
  const Divisors mean = Divisors::ofMean(8);
  const float small = std::ldexp(1.0f, -22);
  EXPECT_EQ(mean.pre, 4);
  EXPECT_EQ(mean.post, 2);
  EXPECT_EQ(sum(20000, mean), 20000.0f);
  EXPECT_EQ(sum(small, mean), small);
  EXPECT_EQ(sum(small, {8, 1}), 0.0f);
  EXPECT_TRUE(std::isinf(sum(20000, {1, 1})));
}

// Every half, divided by powers of two and by other numbers.
TEST(SumPieces, RoundsEveryHalf) {
  std::vector<uint16_t> all(65536), out(65536);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = uint16_t(i);
  const void *piece = all.data();
  for (int32_t type : {WEFT_F16, WEFT_BF16})
    for (float pre : {1.0f, 2.0f, 4.0f, 16.0f, 0.5f, 3.0f, 1.5f}) {
      sumPieces(type, &piece, 1, 65536, out.data(), pre, 1);
      for (size_t i = 0; i < all.size(); ++i) {
        const uint16_t expected =
            type == WEFT_F16 ? floatToHalf(halfToFloat(
                                   floatToHalf(halfToFloat(all[i]) / pre)))
                             : floatToBf16(bf16ToFloat(all[i]) / pre);
        ASSERT_EQ(out[i], expected) << i << " " << pre;
      }
    }
}

// A mean of NaN and of infinities says so; -0 stays.
TEST(SumPieces, KeepsWhatIsNotFinite) {
  auto sum = [](float value) {
    return sumOfEight<float>(WEFT_F32, value, Divisors::ofMean(8),
                             [](float x) { return x; });
  };
  EXPECT_TRUE(std::isnan(sum(NAN)));
  EXPECT_EQ(sum(-INFINITY), -INFINITY);
  EXPECT_TRUE(std::signbit(sum(-0.0f)));
}

} // namespace
