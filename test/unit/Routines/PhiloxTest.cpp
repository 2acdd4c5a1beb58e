//===- PhiloxTest.cpp - Random numbers ------------------------------------===//

#include "weft/Abi/Philox.h"
#include "IsaLoops.h"

using namespace weft;

static void checkBlock(PhiloxKey key, std::vector<uint32_t> counter,
                       std::vector<uint32_t> want) {
  PhiloxBlock got =
      philoxRounds(key, counter[0], counter[1], counter[2], counter[3]);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(got.lane[i], want[i]);
}

// Random123's kat_vectors, "philox4x32 10".
TEST(Philox, KnownAnswers) {
  checkBlock({0, 0}, {0, 0, 0, 0},
             {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  checkBlock({~0u, ~0u}, {~0u, ~0u, ~0u, ~0u},
             {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  checkBlock({0xa4093822, 0x299f31d0},
             {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
             {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(Philox, NameHashIsFnv1a) {
  EXPECT_EQ(philoxNameHash("", 0), 0xcbf29ce484222325u);
  EXPECT_EQ(philoxNameHash("a", 1), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(philoxNameHash("foobar", 6), 0x85944171f73967e8u);
}

TEST(Philox, KeysDiffer) {
  PhiloxKey a = philoxKey(1, 2), b = philoxKey(2, 1), c = philoxKey(1, 3);
  EXPECT_FALSE(a.low == b.low && a.high == b.high);
  EXPECT_FALSE(a.low == c.low && a.high == c.high);
}

TEST(Philox, DropThreshold) {
  EXPECT_EQ(philoxDropThreshold(0.0), 0u);
  EXPECT_EQ(philoxDropThreshold(0.5), 1u << 23);
  EXPECT_EQ(philoxDropThreshold(1.0), 1u << 24);
  EXPECT_EQ(philoxDropThreshold(1e-12), 1u);
  EXPECT_EQ(philoxKeepScale(0.5), 2.0f);
  EXPECT_EQ(philoxKeepScale(1.0), 0.0f);
}

// One comparison says the same as the upper 24 bits, on both sides of a bound.
TEST(Philox, LastDropped) {
  for (uint32_t threshold : {1u, 2u, 1u << 23, (1u << 24) - 1, 1u << 24}) {
    uint32_t last = philoxLastDropped(threshold);
    for (uint32_t number : {0u, last - 1, last, last + 1, last + 256, ~0u})
      EXPECT_EQ(philoxKeepsAbove(number, last), philoxKeeps(number, threshold))
          << threshold << " " << number;
  }
}

// Against libm in double: the header promises 3e-7.
TEST(Philox, NormalIsBoxMuller) {
  PhiloxKey key = philoxKey(7, 9);
  double worst = 0.0, sum = 0.0, squares = 0.0;
  constexpr int count = 400000;
  for (int pair = 0; pair < count / 2; ++pair) {
    uint32_t a = philoxNumber(key, 0, 2 * pair);
    uint32_t b = philoxNumber(key, 0, 2 * pair + 1);
    double u = ((a >> 8) + 1.0) * 0x1p-24, v = (b >> 8) * 0x1p-24;
    double radius = std::sqrt(-2.0 * std::log(u));
    double first = radius * std::cos(2 * M_PI * v);
    double second = radius * std::sin(2 * M_PI * v);
    float gotFirst = philoxNormal(key, 0, 2 * pair);
    float gotSecond = philoxNormal(key, 0, 2 * pair + 1);
    worst = std::max(worst, std::fabs(gotFirst - first) / (radius + 1e-30));
    worst = std::max(worst, std::fabs(gotSecond - second) / (radius + 1e-30));
    sum += first + second;
    squares += first * first + second * second;
  }
  EXPECT_LT(worst, 3e-7);
  EXPECT_NEAR(sum / count, 0.0, 0.01);
  EXPECT_NEAR(squares / count, 1.0, 0.01);
}

TEST(Philox, LogIsAccurate) {
  double worst = 0.0;
  for (int i = 1; i <= 1 << 24; i += 3) {
    double u = i * 0x1p-24, want = std::log(u);
    if (i < 1 << 24)
      worst =
          std::max(worst, std::fabs(philoxLog(static_cast<float>(u)) - want) /
                              std::fabs(want));
  }
  EXPECT_LT(worst, 3e-7);
  EXPECT_EQ(philoxLog(1.0f), 0.0f);
}
