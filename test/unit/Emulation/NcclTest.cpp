//===- NcclTest.cpp - Collectives of the emulated NCCL --------------------===//

#include "Ranks.h"

#include "weft/Formats/Half.h"

#include <cmath>
#include <set>

namespace weft::emulation {
namespace {

constexpr size_t kCount = 1000;

/// Element `i` of what a rank sends, whole so that sums are exact.
float inputOf(int rank, size_t i) {
  return static_cast<float>((static_cast<size_t>(rank) * 131 + i * 7) % 97);
}

std::vector<float> inputs(int rank, size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = inputOf(rank, i);
  return values;
}

class Sizes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Nccl, Sizes, testing::Values(1, 2, 3, 4));

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

TEST_P(Sizes, AllGather) {
  runRanks(GetParam(), [](Rank &r) {
    ncclComm_t comm = r.join();
    const auto size = static_cast<size_t>(r.size);
    float *from = r.make(inputs(r.rank, kCount));
    auto *to = r.allocate<float>(size * kCount);
    auto *inPlace = r.allocate<float>(size * kCount);
    float *own = inPlace + static_cast<size_t>(r.rank) * kCount;
    r.upload(own, inputs(r.rank, kCount));
    EXPECT_NCCL(ncclAllGather(from, to, kCount, ncclFloat32, comm, r.stream));
    EXPECT_NCCL(
        ncclAllGather(own, inPlace, kCount, ncclFloat32, comm, r.stream));
    std::vector<float> got = r.download(to, size * kCount);
    EXPECT_EQ(r.download(inPlace, size * kCount), got);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], inputOf(static_cast<int>(i / kCount), i % kCount));
    Rank::leave(comm);
  });
}

TEST_P(Sizes, AlltoAll) {
  runRanks(GetParam(), [](Rank &r) {
    ncclComm_t comm = r.join();
    const auto size = static_cast<size_t>(r.size);
    float *from = r.make(inputs(r.rank, size * kCount));
    auto *to = r.allocate<float>(size * kCount);
    EXPECT_NCCL(ncclAlltoAll(from, to, kCount, ncclFloat32, comm, r.stream));
    std::vector<float> got = r.download(to, size * kCount);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i],
                inputOf(static_cast<int>(i / kCount),
                        static_cast<size_t>(r.rank) * kCount + i % kCount));
    Rank::leave(comm);
  });
}

TEST_P(Sizes, Broadcast) {
  runRanks(GetParam(), [](Rank &r) {
    ncclComm_t comm = r.join();
    const int root = r.size - 1;
    float *from = r.make(inputs(r.rank, kCount));
    auto *to = r.allocate<float>(kCount);
    EXPECT_NCCL(ncclBroadcast(r.rank == root ? from : nullptr, to, kCount,
                              ncclFloat32, root, comm, r.stream));
    EXPECT_EQ(r.download(to, kCount), inputs(root, kCount));
    EXPECT_NCCL(
        ncclBroadcast(from, from, kCount, ncclFloat32, root, comm, r.stream));
    EXPECT_EQ(r.download(from, kCount), inputs(root, kCount));
    Rank::leave(comm);
  });
}

/// What an operator makes of the elements `i` of all ranks.
double reduced(ncclRedOp_t op, int size, size_t i) {
  double result = inputOf(0, i);
  for (int rank = 1; rank < size; ++rank) {
    const double next = inputOf(rank, i);
    result = op == ncclProd  ? result * next
             : op == ncclMax ? std::max(result, next)
             : op == ncclMin ? std::min(result, next)
                             : result + next;
  }
  return op == ncclAvg ? result / size : result;
}

TEST_P(Sizes, ReduceScatter) {
  runRanks(GetParam(), [](Rank &r) {
    ncclComm_t comm = r.join();
    const auto size = static_cast<size_t>(r.size);
    float *from = r.make(inputs(r.rank, size * kCount));
    auto *to = r.allocate<float>(kCount);
    EXPECT_NCCL(ncclReduceScatter(from, to, kCount, ncclFloat32, ncclSum, comm,
                                  r.stream));
    std::vector<float> got = r.download(to, kCount);
    float *own = from + static_cast<size_t>(r.rank) * kCount;
    EXPECT_NCCL(ncclReduceScatter(from, own, kCount, ncclFloat32, ncclSum, comm,
                                  r.stream));
    EXPECT_EQ(r.download(own, kCount), got);
    for (size_t i = 0; i < kCount; ++i)
      ASSERT_EQ(got[i], reduced(ncclSum, r.size,
                                static_cast<size_t>(r.rank) * kCount + i));
    Rank::leave(comm);
  });
}

template <typename T>
void expectReduced(Rank &r, ncclComm_t comm, ncclDataType_t type,
                   T (*store)(float), float (*load)(T)) {
  std::vector<T> values;
  for (size_t i = 0; i < kCount; ++i)
    values.push_back(store(inputOf(r.rank, i)));
  for (ncclRedOp_t op : {ncclSum, ncclMax, ncclMin, ncclAvg}) {
    T *place = r.make(values);
    EXPECT_NCCL(ncclAllReduce(place, place, kCount, type, op, comm, r.stream));
    std::vector<T> got = r.download(place, kCount);
    for (size_t i = 0; i < kCount; ++i) {
      double expected = reduced(op, r.size, i);
      // Integers are divided once, at the end.
      if (op == ncclAvg && type < ncclFloat16)
        expected = std::floor(expected);
      ASSERT_NEAR(load(got[i]), expected, type == ncclBfloat16 ? 2 : 0.1)
          << "type " << type << " op " << op << " element " << i;
    }
  }
}

template <typename T> T convert(float value) { return static_cast<T>(value); }
template <typename T> float revert(T value) {
  return static_cast<float>(value);
}

TEST_P(Sizes, AllReduceOfEachType) {
  runRanks(GetParam(), [](Rank &r) {
    ncclComm_t comm = r.join();
    auto expectPlain = [&](auto zero, ncclDataType_t type) {
      using T = decltype(zero);
      expectReduced<T>(r, comm, type, convert<T>, revert<T>);
    };
    expectPlain(int32_t(), ncclInt32);
    expectPlain(uint32_t(), ncclUint32);
    expectPlain(int64_t(), ncclInt64);
    expectPlain(uint64_t(), ncclUint64);
    expectPlain(float(), ncclFloat32);
    expectPlain(double(), ncclFloat64);
    expectReduced<uint16_t>(r, comm, ncclFloat16, floatToHalf, halfToFloat);
    expectReduced<uint16_t>(r, comm, ncclBfloat16, floatToBf16, bf16ToFloat);
    Rank::leave(comm);
  });
}

TEST_P(Sizes, Products) {
  runRanks(GetParam(), [](Rank &r) {
    ncclComm_t comm = r.join();
    auto *place = r.make(std::vector<int8_t>(kCount, -3));
    EXPECT_NCCL(ncclAllReduce(place, place, kCount, ncclInt8, ncclProd, comm,
                              r.stream));
    int expected = 1;
    for (int i = 0; i < r.size; ++i)
      expected *= -3;
    EXPECT_EQ(r.download(place, kCount),
              std::vector<int8_t>(kCount, static_cast<int8_t>(expected)));
    Rank::leave(comm);
  });
}

TEST_P(Sizes, SendsAndReceivesInAGroup) {
  runRanks(GetParam(), [](Rank &r) {
    ncclComm_t comm = r.join();
    const auto size = static_cast<size_t>(r.size);
    float *from = r.make(inputs(r.rank, size * kCount));
    auto *to = r.allocate<float>(size * kCount);
    EXPECT_NCCL(ncclGroupStart());
    for (int i = 0; i < r.size; ++i) {
      const size_t at = static_cast<size_t>(i) * kCount;
      EXPECT_NCCL(ncclSend(from + at, kCount, ncclFloat32, i, comm, r.stream));
      EXPECT_NCCL(ncclRecv(to + at, kCount, ncclFloat32, i, comm, r.stream));
    }
    EXPECT_NCCL(ncclGroupEnd());
    std::vector<float> got = r.download(to, size * kCount);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i],
                inputOf(static_cast<int>(i / kCount),
                        static_cast<size_t>(r.rank) * kCount + i % kCount));
    Rank::leave(comm);
  });
}

/// A chain: each rank but the first receives, each but the last sends.
TEST_P(Sizes, SendsAndReceivesAlone) {
  runRanks(GetParam(), [](Rank &r) {
    ncclComm_t comm = r.join();
    float *place = r.make(inputs(r.rank, kCount));
    if (r.rank > 0)
      EXPECT_NCCL(
          ncclRecv(place, kCount, ncclFloat32, r.rank - 1, comm, r.stream));
    if (r.rank + 1 < r.size)
      EXPECT_NCCL(
          ncclSend(place, kCount, ncclFloat32, r.rank + 1, comm, r.stream));
    EXPECT_EQ(r.download(place, kCount), inputs(0, kCount));
    Rank::leave(comm);
  });
}

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

/// A group of all collectives of a step, in a graph that is launched twice.
TEST_P(Sizes, CaptureOfAGroup) {
  runRanks(GetParam(), [](Rank &r) {
    ncclComm_t comm = r.joinWithoutBlocking();
    const auto size = static_cast<size_t>(r.size);
    float *from = r.make(inputs(r.rank, size * kCount));
    auto *gathered = r.allocate<float>(size * kCount);
    auto *swapped = r.allocate<float>(size * kCount);
    auto *sums = r.allocate<float>(kCount);
    auto *flag = r.make(std::vector<float>{1});
    r.finish();
    EXPECT_OK(cuStreamBeginCapture(r.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_NCCL(ncclGroupStart());
    EXPECT_NCCL(
        ncclAllGather(from, gathered, kCount, ncclFloat32, comm, r.stream));
    EXPECT_NCCL(
        ncclAlltoAll(from, swapped, kCount, ncclFloat32, comm, r.stream));
    EXPECT_NCCL(ncclReduceScatter(from, sums, kCount, ncclFloat32, ncclSum,
                                  comm, r.stream));
    EXPECT_NCCL(
        ncclAllReduce(flag, flag, 1, ncclFloat32, ncclSum, comm, r.stream));
    EXPECT_EQ(ncclGroupEnd(), ncclInProgress);
    EXPECT_EQ(Rank::settle(comm), ncclSuccess);
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    EXPECT_OK(cuStreamEndCapture(r.stream, &graph));
    EXPECT_OK(cuGraphInstantiate(&executable, graph, 0));
    for (int launch = 1; launch <= 2; ++launch) {
      r.upload(from, inputs(r.rank + launch, size * kCount));
      EXPECT_OK(cuGraphLaunch(executable, r.stream));
      std::vector<float> all = r.download(gathered, size * kCount);
      std::vector<float> columns = r.download(swapped, size * kCount);
      std::vector<float> sum = r.download(sums, kCount);
      for (size_t i = 0; i < kCount; ++i) {
        float expected = 0;
        for (size_t rank = 0; rank < size; ++rank) {
          const int from = static_cast<int>(rank) + launch;
          const size_t own = static_cast<size_t>(r.rank) * kCount + i;
          ASSERT_EQ(all[rank * kCount + i], inputOf(from, i));
          ASSERT_EQ(columns[rank * kCount + i], inputOf(from, own));
          expected += inputOf(from, own);
        }
        ASSERT_EQ(sum[i], expected);
      }
      EXPECT_EQ(r.download(flag, 1)[0],
                std::pow(static_cast<float>(r.size), launch));
    }
    EXPECT_EQ(ncclCommFinalize(comm), ncclInProgress);
    EXPECT_EQ(Rank::settle(comm), ncclSuccess);
    EXPECT_NCCL(ncclCommDestroy(comm));
  });
}

//===----------------------------------------------------------------------===//
// Orders of sums
//===----------------------------------------------------------------------===//

/// Elements whose sum depends on the order; the same for each period.
std::vector<float> hardInputs(int rank, size_t count, size_t period) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    const auto seed = static_cast<float>(static_cast<size_t>(rank) * 7919 +
                                         i % period * 104729 + 1);
    values[i] = std::sin(seed) * std::pow(10.0f, std::fmod(seed, 7.0f) - 3);
  }
  return values;
}

constexpr size_t kHard = 4096, kPeriod = 64;

std::vector<float> hardSums(Rank &r, int channels, size_t count) {
  ncclComm_t comm = r.join(makeConfig(1, channels));
  float *place = r.make(hardInputs(r.rank, count, kPeriod));
  EXPECT_NCCL(
      ncclAllReduce(place, place, count, ncclFloat32, ncclSum, comm, r.stream));
  std::vector<float> sums = r.download(place, count);
  Rank::leave(comm);
  return sums;
}

TEST(Nccl, SumsDependOnChannelsAndOffsetsOnly) {
  runRanks(3, [](Rank &r) {
    std::vector<float> two = hardSums(r, 2, kHard);
    EXPECT_EQ(hardSums(r, 2, kHard), two);
    EXPECT_NE(hardSums(r, 1, kHard), two);
    // The same elements follow each other again and again.
    std::vector<std::vector<float>> parts;
    for (size_t i = 0; i < kHard; i += kPeriod)
      parts.emplace_back(two.begin() + static_cast<ptrdiff_t>(i),
                         two.begin() + static_cast<ptrdiff_t>(i + kPeriod));
    size_t numUnlike = 0;
    for (const std::vector<float> &part : parts)
      numUnlike += part != parts[0] ? 1 : 0;
    EXPECT_GT(numUnlike, parts.size() / 3);
    // No order of ranks gives all of them.
    std::vector<float> ordered(kHard);
    for (int rank = 0; rank < r.size; ++rank) {
      std::vector<float> next = hardInputs(rank, kHard, kPeriod);
      for (size_t i = 0; i < kHard; ++i)
        ordered[i] += next[i];
    }
    EXPECT_NE(two, ordered);
  });
}

/// Four ranks in one direction of a ring have four orders.
TEST(Nccl, ChannelsHaveBothDirections) {
  runRanks(4, [](Rank &r) {
    std::vector<float> sums = hardSums(r, 4, kHard);
    std::set<std::vector<float>> parts;
    for (auto at = sums.begin(); at != sums.end(); at += kPeriod)
      parts.insert(std::vector<float>(at, at + kPeriod));
    EXPECT_GT(parts.size(), 4u);
  });
}

/// The ranks' configurations are unequal: the smallest one holds for all.
TEST(Nccl, RanksAgreeOnChannels) {
  runRanks(3, [](Rank &r) {
    std::vector<float> one = hardSums(r, 1, kHard);
    EXPECT_EQ(hardSums(r, r.rank == 2 ? 1 : 4, kHard), one);
  });
}

TEST(Nccl, ChannelsOfTheEnvironment) {
  runRanks(3, [](Rank &r) {
    std::vector<float> two = hardSums(r, 2, kHard);
    std::vector<float> one = hardSums(r, 1, kHard);
    EXPECT_EQ(hardSums(r, NCCL_CONFIG_UNDEF_INT, kHard), two);
    setenv("NCCL_MAX_CTAS", "1", 1);
    EXPECT_EQ(hardSums(r, NCCL_CONFIG_UNDEF_INT, kHard), one);
  });
}

TEST(Nccl, SumsAreTheSameOnAllRanks) {
  runRanks(4, [](Rank &r) {
    std::vector<float> sums = hardSums(r, 2, kHard);
    ncclComm_t comm = r.join();
    float *own = r.make(sums);
    auto *all = r.allocate<float>(4 * kHard);
    EXPECT_NCCL(ncclAllGather(own, all, kHard, ncclFloat32, comm, r.stream));
    std::vector<float> got = r.download(all, 4 * kHard);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], sums[i % kHard]);
    Rank::leave(comm);
  });
}

/// bf16 1 + 2^-9 + 2^-9: rounded at every hop the small ones are lost, in any
/// order that begins with the 1.
TEST(Nccl, SumsAreRoundedAtEveryHop) {
  runRanks(3, [](Rank &r) {
    ncclComm_t comm = r.join();
    const uint16_t value = floatToBf16(r.rank == 0 ? 1.0f : 0.00390625f);
    auto *place = r.make(std::vector<uint16_t>(kHard, value));
    EXPECT_NCCL(ncclAllReduce(place, place, kHard, ncclBfloat16, ncclSum, comm,
                              r.stream));
    size_t numLost = 0, numKept = 0;
    for (uint16_t sum : r.download(place, kHard)) {
      numLost += bf16ToFloat(sum) == 1.0f ? 1 : 0;
      numKept += bf16ToFloat(sum) == 1.0078125f ? 1 : 0;
    }
    EXPECT_GT(numLost, 0u);
    EXPECT_GT(numKept, 0u);
    EXPECT_EQ(numLost + numKept, kHard);
    Rank::leave(comm);
  });
}

} // namespace
} // namespace weft::emulation
