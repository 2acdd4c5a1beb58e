//===- NcclTest.cpp - Collectives of the emulated NCCL --------------------===//

#include "EmulatedRanks.h"

#include "weft/Base/Half.h"

#include <cmath>

namespace weft::emulation {
namespace {

constexpr size_t kCount = 1000;

/// Element `i` that a rank sends, whole so that sums are exact.
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

/// The operator's result for the elements `i` of all ranks.
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

/// More than sockets hold.
TEST(Nccl, LargeMessages) {
  runRanks(3, [](Rank &r) {
    constexpr size_t kLarge = 1 << 20;
    ncclComm_t comm = r.join();
    float *from = r.make(inputs(r.rank, kLarge));
    auto *to = r.allocate<float>(3 * kLarge);
    EXPECT_NCCL(ncclAllGather(from, to, kLarge, ncclFloat32, comm, r.stream));
    EXPECT_NCCL(ncclAllReduce(from, from, kLarge, ncclFloat32, ncclSum, comm,
                              r.stream));
    std::vector<float> all = r.download(to, 3 * kLarge);
    std::vector<float> sums = r.download(from, kLarge);
    for (size_t i = 0; i < kLarge; ++i) {
      for (int rank = 0; rank < 3; ++rank)
        ASSERT_EQ(all[static_cast<size_t>(rank) * kLarge + i],
                  inputOf(rank, i));
      ASSERT_EQ(sums[i], reduced(ncclSum, 3, i));
    }
    Rank::leave(comm);
  });
}

} // namespace
} // namespace weft::emulation
