//===- SumChecks.cpp - Bits of collectives, over every transport ----------===//

#include "CollectiveChecks.h"
#include "TestNumbers.h"
#include "weft/Runtime/Collectives/Communicator.h"

#include <gtest/gtest.h>

using namespace weft;

/// Guard bytes around the receive buffer, which nobody may write.
static constexpr size_t kGuard = 64;

namespace {
class Guarded {
public:
  explicit Guarded(size_t size) : bytes(size + 2 * kGuard, '\x5a') {}
  explicit Guarded(const std::vector<char> &content) : Guarded(content.size()) {
    std::copy(content.begin(), content.end(), data());
  }
  char *data() { return bytes.data() + kGuard; }
  void expect(const char *content, size_t size, const std::string &what) {
    ASSERT_EQ(size, bytes.size() - 2 * kGuard);
    EXPECT_EQ(std::string(kGuard, '\x5a'), std::string(bytes.data(), kGuard));
    EXPECT_EQ(std::string(kGuard, '\x5a'), std::string(data() + size, kGuard));
    EXPECT_TRUE(size == 0 || std::memcmp(data(), content, size) == 0) << what;
  }

private:
  std::vector<char> bytes;
};
} // namespace

static std::vector<Divisors> divisorsFor(int ranks) {
  return {{1, 1}, Divisors::ofMean(ranks), {1, double(ranks)}};
}

static std::string textOf(int32_t type, int64_t elements, const Divisors &by) {
  return std::to_string(elements) + " " + dtypeName(type) + " by " +
         std::to_string(by.pre) + " and " + std::to_string(by.post);
}

/// Calls `check` for chunks of a few elements and of the usual size, types,
/// numbers of elements and divisors.
template <typename Check> static void forSums(Transport &all, Check check) {
  const int64_t ranks = all.ranks();
  for (int64_t staging : {int64_t(64) * ranks, Communicator::kStagingBytes}) {
    Communicator group(copyOf(all), staging);
    const int64_t large = staging < 4096 ? 1000 : ranks > 4 ? 70001 : 300001;
    for (int32_t type : kSumTypes)
      for (int64_t elements : {int64_t(0), int64_t(1), ranks - 1, ranks,
                               ranks + 1, int64_t(77), large})
        for (const Divisors &by : divisorsFor(int(ranks)))
          if (elements < 1000 || by.pre != 1 || type == WEFT_F32)
            check(group, type, elements, by);
  }
}

void weft::checkReduceScatter(Transport &all) {
  forSums(all, [](Communicator &group, int32_t type, int64_t elements,
                  const Divisors &by) {
    if (elements > 10000) // of all
      elements /= group.ranks();
    const int64_t total = elements * group.ranks();
    const size_t slice = size_t(elements * sizeOf(type));
    const std::vector<char> sum = plainSum(type, group.ranks(), total, by);
    const char *expected = sum.data() + size_t(group.rank()) * slice;
    std::vector<char> full = numbersOf(type, group.rank(), total);
    const std::vector<char> before = full;
    Guarded out(slice);
    Status status =
        reduceScatter(group, full.data(), out.data(), elements, type, by);
    ASSERT_TRUE(status) << status.error().where();
    out.expect(expected, slice, textOf(type, elements, by));
    EXPECT_EQ(full, before);
    // In place.
    Guarded place(full);
    char *own = place.data() + size_t(group.rank()) * slice;
    status = reduceScatter(group, place.data(), own, elements, type, by);
    ASSERT_TRUE(status) << status.error().where();
    std::copy(expected, expected + slice,
              full.data() + size_t(group.rank()) * slice);
    place.expect(full.data(), full.size(), textOf(type, elements, by));
  });
}

void weft::checkAllReduce(Transport &all) {
  forSums(all, [](Communicator &group, int32_t type, int64_t elements,
                  const Divisors &by) {
    const std::vector<char> sum = plainSum(type, group.ranks(), elements, by);
    Guarded data(numbersOf(type, group.rank(), elements));
    Status status = allReduce(group, data.data(), elements, type, by);
    ASSERT_TRUE(status) << status.error().where();
    data.expect(sum.data(), sum.size(), textOf(type, elements, by));
  });
  Communicator group(copyOf(all));
  int64_t number = 1;
  EXPECT_EQ(allReduce(group, &number, 1, WEFT_I64, {}).error().where(),
            "a sum: expects a floating-point type, but got dtype 6");
  EXPECT_EQ(allReduce(group, &number, -1, WEFT_F64, {}).error().where(),
            "a sum: expects a size of 0 or more, but got -1");
}

void weft::checkAllGather(Transport &all) {
  for (int64_t staging : {int64_t(5), Communicator::kStagingBytes}) {
    Communicator group(copyOf(all), staging);
    for (int64_t bytes : {0, 1, 5, 77, staging == 5 ? 78 : 3000001}) {
      std::vector<char> expected;
      std::vector<std::vector<char>> slices;
      for (int rank = 0; rank < group.ranks(); ++rank) {
        slices.push_back(numbersOf(WEFT_F16, rank, bytes / 2 + 1));
        slices.back().resize(size_t(bytes));
        expected.insert(expected.end(), slices.back().begin(),
                        slices.back().end());
      }
      Guarded full(expected.size());
      const std::vector<char> &own = slices[size_t(group.rank())];
      ASSERT_TRUE(group.allGather(own.data(), full.data(), bytes, "a gather"));
      full.expect(expected.data(), expected.size(), std::to_string(bytes));
      Guarded place(expected.size());
      char *mine = place.data() + group.rank() * bytes;
      std::copy(own.begin(), own.end(), mine);
      ASSERT_TRUE(group.allGather(mine, place.data(), bytes, "a gather"));
      place.expect(expected.data(), expected.size(), std::to_string(bytes));
    }
  }
}

// A mean of halves neither overflows nor vanishes, if the division is cut.
void weft::checkHalfSums(Transport &all) {
  Communicator group(copyOf(all));
  const Divisors mean = Divisors::ofMean(group.ranks());
  for (float value : {20000.0f, std::ldexp(1.0f, -22)}) {
    // pre * 2^-24 is the least value that the first division keeps exactly.
    if (value < 1 && (mean.pre > 4 || mean.pre * mean.post != group.ranks()))
      continue;
    std::vector<uint16_t> full(size_t(group.ranks() * 3), floatToHalf(value));
    std::vector<uint16_t> slice(3);
    ASSERT_TRUE(
        reduceScatter(group, full.data(), slice.data(), 3, WEFT_F16, mean));
    for (uint16_t bits : slice)
      EXPECT_EQ(halfToFloat(bits), value) << group.ranks();
    ASSERT_TRUE(allReduce(group, full.data(), 3, WEFT_F16, mean));
    EXPECT_EQ(halfToFloat(full[0]), value);
  }
}

void weft::checkCounts(Transport &all) {
  Communicator group(copyOf(all));
  const int64_t others = group.ranks() - 1;
  std::vector<float> full(size_t(group.ranks()) * 100);
  ASSERT_TRUE(reduceScatter(group, full.data(), full.data(), 0, WEFT_F32, {}));
  ASSERT_TRUE(reduceScatter(group, full.data(),
                            &full[size_t(group.rank()) * 100], 100, WEFT_F32,
                            {}));
  ASSERT_TRUE(group.allGather(&full[size_t(group.rank()) * 100], full.data(),
                              400, "a gather"));
  EXPECT_EQ(group.count(Collective::ReduceScatter).calls, 2);
  EXPECT_EQ(group.count(Collective::ReduceScatter).bytes, 400 * others);
  EXPECT_EQ(group.count(Collective::AllGather).calls, 1);
  EXPECT_EQ(group.count(Collective::AllGather).bytes, 400 * others);
  EXPECT_GT(group.count(Collective::AllGather).nanoseconds, 0);
  EXPECT_EQ(group.count(Collective::AllReduce).calls, 0);
}
