//===- NcclErrorsTest.cpp - Errors of the emulated NCCL -------------------===//

#include "EmulatedRanks.h"

namespace weft::emulation {
namespace {

constexpr size_t kCount = 64;

/// A rank with a communicator and two buffers of 4 x 64 floats.
struct Ready {
  explicit Ready(Rank &rank)
      : r(rank), comm(rank.join()),
        x(rank.make(std::vector<float>(4 * kCount, 1))),
        y(rank.make(std::vector<float>(4 * kCount, 2))) {}
  ~Ready() { Rank::leave(comm); }
  ncclResult_t reduce(const void *from, void *to, size_t count = kCount,
                      ncclDataType_t type = ncclFloat32,
                      ncclRedOp_t op = ncclSum) {
    return ncclAllReduce(from, to, count, type, op, comm, r.stream);
  }

  Rank &r;
  ncclComm_t comm;
  float *x, *y;
};

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

TEST(NcclErrors, Buffers) {
  runRanks(2, [](Rank &r) {
    Ready ready(r);
    std::vector<float> host(kCount);
    float *x = ready.x, *y = ready.y;
    EXPECT_REFUSED(ready.reduce(nullptr, y), ncclInvalidArgument,
                   "ncclAllReduce: the send buffer is null");
    EXPECT_REFUSED(ready.reduce(x, nullptr), ncclInvalidArgument,
                   "the receive buffer is null");
    EXPECT_REFUSED(ready.reduce(host.data(), y), ncclInvalidArgument,
                   "the send buffer of 256 bytes is not memory of the device");
    EXPECT_REFUSED(ready.reduce(x, host.data()), ncclInvalidArgument,
                   "the receive buffer of 256 bytes is not memory");
    EXPECT_REFUSED(ready.reduce(x, y, 4 * kCount + 1), ncclInvalidArgument,
                   "is not memory of the device");
    EXPECT_REFUSED(ready.reduce(reinterpret_cast<char *>(x) + 2, y),
                   ncclInvalidArgument, "is not aligned");
    auto *freed = r.allocate<float>(kCount);
    EXPECT_OK(cuMemFree(reinterpret_cast<CUdeviceptr>(freed)));
    EXPECT_REFUSED(ready.reduce(freed, y), ncclInvalidArgument,
                   "is not memory of the device");
    // All ranks together write more bytes than one sends.
    EXPECT_REFUSED(
        ncclAllGather(x, y, 2 * kCount + 1, ncclFloat32, ready.comm, r.stream),
        ncclInvalidArgument, "the receive buffer of 1032 bytes");
    EXPECT_REFUSED(ncclReduceScatter(x, y, 2 * kCount + 1, ncclFloat32, ncclSum,
                                     ready.comm, r.stream),
                   ncclInvalidArgument, "the send buffer of 1032 bytes");
    // Without elements nothing is looked at and nothing happens.
    EXPECT_NCCL(ready.reduce(nullptr, nullptr, 0));
    EXPECT_NCCL(ready.reduce(x, y));
    EXPECT_EQ(r.download(y, 1)[0], 2);
  });
}

TEST(NcclErrors, Numbers) {
  runRanks(2, [](Rank &r) {
    Ready ready(r);
    float *x = ready.x, *y = ready.y;
    auto type = [](int number) { return static_cast<ncclDataType_t>(number); };
    EXPECT_REFUSED(ready.reduce(x, y, kCount, type(12)), ncclInvalidArgument,
                   "expects a data type, but got 12");
    EXPECT_REFUSED(
        ready.reduce(x, y, kCount, ncclFloat32, static_cast<ncclRedOp_t>(5)),
        ncclInvalidArgument, "expects an operator, but got 5");
    EXPECT_REFUSED(ready.reduce(x, y, kCount, ncclFloat8e4m3),
                   ncclInvalidArgument, "does not reduce ncclFloat8e4m3");
    EXPECT_REFUSED(ready.reduce(x, y, size_t{1} << 60), ncclInvalidArgument,
                   "expects at most 2^48 elements");
    for (int rank : {-1, 2}) {
      EXPECT_REFUSED(
          ncclBroadcast(x, y, kCount, ncclFloat32, rank, ready.comm, r.stream),
          ncclInvalidArgument, "expects a rank below 2, but got");
      EXPECT_REFUSED(
          ncclSend(x, kCount, ncclFloat32, rank, ready.comm, r.stream),
          ncclInvalidArgument, "ncclSend: expects a rank below 2");
      EXPECT_REFUSED(
          ncclRecv(x, kCount, ncclFloat32, rank, ready.comm, r.stream),
          ncclInvalidArgument, "ncclRecv: expects a rank below 2");
    }
    auto none = reinterpret_cast<cudaStream_t>(&ready);
    EXPECT_REFUSED(
        ncclAllReduce(x, y, kCount, ncclFloat32, ncclSum, ready.comm, none),
        ncclInvalidArgument, "expects a stream");
    EXPECT_REFUSED(
        ncclAllReduce(x, y, kCount, ncclFloat32, ncclSum, nullptr, r.stream),
        ncclInvalidArgument, "expects a communicator, but got null");
    EXPECT_REFUSED(ncclCommCount(reinterpret_cast<ncclComm_t>(&ready), nullptr),
                   ncclInvalidArgument,
                   "expects a communicator, but got something else");
    EXPECT_EQ(ncclCommCount(ready.comm, nullptr), ncclInvalidArgument);
  });
}

TEST(NcclErrors, Overlaps) {
  runRanks(2, [](Rank &r) {
    Ready ready(r);
    float *x = ready.x;
    const auto own = static_cast<size_t>(r.rank) * kCount;
    EXPECT_REFUSED(ready.reduce(x, x + 1), ncclInvalidArgument,
                   "overlaps the receive buffer, -4 bytes behind its begin; "
                   "in place these are 0");
    EXPECT_REFUSED(ncclAllGather(x + own + 1, x, kCount, ncclFloat32,
                                 ready.comm, r.stream),
                   ncclInvalidArgument, "overlaps");
    EXPECT_REFUSED(ncclAllGather(x + kCount - own, x, kCount, ncclFloat32,
                                 ready.comm, r.stream),
                   ncclInvalidArgument, "in place these are");
    EXPECT_REFUSED(ncclReduceScatter(x, x + kCount - own, kCount, ncclFloat32,
                                     ncclSum, ready.comm, r.stream),
                   ncclInvalidArgument, "overlaps");
    EXPECT_REFUSED(
        ncclAlltoAll(x, x, kCount, ncclFloat32, ready.comm, r.stream),
        ncclInvalidArgument, "there is no such call in place");
    EXPECT_NCCL(ncclAllGather(x, x + 2 * kCount, kCount, ncclFloat32,
                              ready.comm, r.stream));
    r.finish();
  });
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

TEST(NcclErrors, Groups) {
  runRanks(2, [](Rank &r) {
    Ready ready(r);
    float *x = ready.x, *y = ready.y;
    EXPECT_REFUSED(ncclGroupEnd(), ncclInvalidUsage, "expects a group");
    // A call that fails makes the group fail: nothing of it is done.
    EXPECT_NCCL(ncclGroupStart());
    EXPECT_NCCL(ready.reduce(x, y));
    EXPECT_EQ(ready.reduce(nullptr, y), ncclInvalidArgument);
    EXPECT_REFUSED(ncclGroupEnd(), ncclInvalidArgument,
                   "ncclGroupEnd: ncclAllReduce: the send buffer is null");
    EXPECT_EQ(r.download(y, 1)[0], 2);
    // The inner end does nothing.
    EXPECT_NCCL(ncclGroupStart());
    EXPECT_NCCL(ncclGroupStart());
    EXPECT_NCCL(ready.reduce(x, y));
    EXPECT_NCCL(ncclGroupEnd());
    EXPECT_NCCL(ncclGroupEnd());
    EXPECT_REFUSED(ncclGroupEnd(), ncclInvalidUsage, "expects a group");
    CUstream other;
    EXPECT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    EXPECT_NCCL(ncclGroupStart());
    EXPECT_NCCL(ready.reduce(x, y));
    EXPECT_REFUSED(
        ncclAllReduce(x, y, 1, ncclFloat32, ncclSum, ready.comm, other),
        ncclInvalidUsage, "one stream");
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    EXPECT_NCCL(ncclGroupStart());
    ncclComm_t child;
    EXPECT_REFUSED(ncclCommSplit(ready.comm, 0, 0, &child, nullptr),
                   ncclInvalidUsage, "in a group");
    EXPECT_NCCL(ncclGroupEnd());
    r.finish();
  });
}

TEST(NcclErrors, SendsToItself) {
  runRanks(2, [](Rank &r) {
    Ready ready(r);
    auto send = [&](size_t count) {
      return ncclSend(ready.x, count, ncclFloat32, r.rank, ready.comm,
                      r.stream);
    };
    auto receive = [&](size_t count) {
      return ncclRecv(ready.y, count, ncclFloat32, r.rank, ready.comm,
                      r.stream);
    };
    EXPECT_REFUSED(send(1), ncclInvalidUsage, "in a group only");
    EXPECT_NCCL(ncclGroupStart());
    EXPECT_NCCL(send(2));
    EXPECT_NCCL(receive(1));
    EXPECT_REFUSED(ncclGroupEnd(), ncclInvalidUsage, "sends to itself");
    EXPECT_NCCL(ncclGroupStart());
    EXPECT_NCCL(send(1));
    EXPECT_REFUSED(ncclGroupEnd(), ncclInvalidUsage, "sends to itself");
  });
}

//===----------------------------------------------------------------------===//
// Unequal calls
//===----------------------------------------------------------------------===//

using CallOf =
    std::function<ncclResult_t(Rank &, ncclComm_t, float *, float *)>;

/// Rank 0 makes another call than the others: each says so.
void expectUnequal(const CallOf &first, const CallOf &others,
                   const std::string &firstText,
                   const std::string &othersText) {
  runRanks(3, [&](Rank &r) {
    ncclComm_t comm = r.join();
    float *x = r.make(std::vector<float>(4 * kCount, 1));
    float *y = r.make(std::vector<float>(4 * kCount, 2));
    EXPECT_NCCL((r.rank == 0 ? first : others)(r, comm, x, y));
    r.finish();
    ncclResult_t state = ncclSuccess;
    EXPECT_NCCL(ncclCommGetAsyncError(comm, &state));
    EXPECT_EQ(state, ncclInvalidUsage);
    hasText(lastError(comm), "rank 0 calls " + firstText);
    hasText(lastError(comm), " calls " + othersText);
    // It stays so, and what later work reads counts as written.
    EXPECT_REFUSED(ncclAllReduce(x, y, 1, ncclFloat32, ncclSum, comm, r.stream),
                   ncclInvalidUsage, "a communicator that has failed: rank");
    EXPECT_REFUSED(ncclCommDestroy(comm), ncclInvalidUsage, "has failed");
    r.meet(1);
    EXPECT_NCCL(ncclCommAbort(comm));
  });
}

CallOf allReduce(size_t count, ncclDataType_t type = ncclFloat32,
                 ncclRedOp_t op = ncclSum) {
  return [=](Rank &r, ncclComm_t comm, float *x, float *y) {
    return ncclAllReduce(x, y, count, type, op, comm, r.stream);
  };
}

CallOf broadcast(int root) {
  return [=](Rank &r, ncclComm_t comm, float *x, float *y) {
    return ncclBroadcast(x, y, 4, ncclFloat32, root, comm, r.stream);
  };
}

TEST(NcclErrors, UnequalCollectives) {
  const std::string plain = "ncclAllReduce of 4 ncclFloat32 with ncclSum";
  expectUnequal(allReduce(5), allReduce(4),
                "ncclAllReduce of 5 ncclFloat32 with ncclSum", plain);
  expectUnequal(allReduce(4, ncclInt32), allReduce(4),
                "ncclAllReduce of 4 ncclInt32 with ncclSum", plain);
  expectUnequal(allReduce(4, ncclFloat32, ncclMax), allReduce(4),
                "ncclAllReduce of 4 ncclFloat32 with ncclMax", plain);
  expectUnequal(broadcast(0), broadcast(1),
                "ncclBroadcast of 4 ncclFloat32 from root 0",
                "ncclBroadcast of 4 ncclFloat32 from root 1");
  expectUnequal(broadcast(0), allReduce(4),
                "ncclBroadcast of 4 ncclFloat32 from root 0", plain);
}

/// The order of two like calls counts, too.
// A graph of one rank meets calls of the other: collectives count as they run.
TEST(NcclErrors, AGraphMeetsCalls) {
  runRanks(2, [](Rank &r) {
    ncclComm_t comm = r.join();
    float *x = r.make(std::vector<float>(kCount, 1));
    float *y = r.make(std::vector<float>(kCount, 0));
    EXPECT_NCCL(allReduce(4)(r, comm, x, y));
    EXPECT_OK(cuStreamSynchronize(r.stream));
    for (int i = 0; i < 3; ++i) {
      if (r.rank == 0) {
        EXPECT_NCCL(allReduce(4)(r, comm, x, y));
      } else {
        EXPECT_OK(
            cuStreamBeginCapture(r.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        EXPECT_NCCL(allReduce(4)(r, comm, x, y));
        CUgraph graph;
        CUgraphExec exec;
        EXPECT_OK(cuStreamEndCapture(r.stream, &graph));
        EXPECT_OK(cuGraphInstantiate(&exec, graph, 0));
        EXPECT_OK(cuGraphLaunch(exec, r.stream));
      }
      EXPECT_OK(cuStreamSynchronize(r.stream));
    }
    ncclResult_t result = ncclInternalError;
    EXPECT_NCCL(ncclCommGetAsyncError(comm, &result));
    EXPECT_EQ(result, ncclSuccess);
    r.meet(1);
    EXPECT_NCCL(ncclCommAbort(comm));
  });
}

TEST(NcclErrors, UnequalTransfers) {
  runRanks(2, [](Rank &r) {
    ncclComm_t comm = r.join();
    float *x = r.make(std::vector<float>(kCount, 1));
    if (r.rank == 0)
      EXPECT_NCCL(ncclSend(x, 3, ncclFloat32, 1, comm, r.stream));
    else
      EXPECT_NCCL(ncclRecv(x, 4, ncclFloat32, 0, comm, r.stream));
    r.finish();
    EXPECT_EQ(Rank::waitForError(comm), ncclInvalidUsage);
    hasText(lastError(comm), "ncclSend of 3 ncclFloat32");
    hasText(lastError(comm), "ncclRecv of 4 ncclFloat32");
    r.meet(1);
    EXPECT_NCCL(ncclCommAbort(comm));
  });
}

TEST(NcclErrors, CollectiveAgainstOtherCalls) {
  enum { kTransfer, kSplit, kFinalize, kNumOthers };
  for (int other = 0; other < kNumOthers; ++other)
    runRanks(2, [&](Rank &r) {
      ncclComm_t comm = r.join(), child = nullptr;
      float *x = r.make(std::vector<float>(kCount, 1));
      if (r.rank == 0)
        EXPECT_NCCL(
            ncclAllReduce(x, x, 4, ncclFloat32, ncclSum, comm, r.stream));
      else if (other == kTransfer)
        EXPECT_NCCL(ncclSend(x, 4, ncclFloat32, 0, comm, r.stream));
      else if (other == kSplit)
        EXPECT_EQ(ncclCommSplit(comm, 0, 0, &child, nullptr), ncclInvalidUsage);
      else
        EXPECT_EQ(ncclCommFinalize(comm), ncclInvalidUsage);
      r.finish();
      EXPECT_EQ(Rank::waitForError(comm), ncclInvalidUsage);
      hasText(lastError(comm), "rank");
      r.meet(1);
      EXPECT_NCCL(ncclCommAbort(comm));
    });
}

} // namespace
} // namespace weft::emulation
