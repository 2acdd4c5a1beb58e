//===- NcclFaultsTest.cpp - Ranks of the emulated NCCL that fail ----------===//

#include "EmulatedRanks.h"

#include <chrono>
#include <thread>

namespace weft::emulation {
namespace {

constexpr size_t kCount = 64;

ncclResult_t reduce(ncclComm_t comm, float *place, CUstream stream) {
  return ncclAllReduce(place, place, kCount, ncclFloat32, ncclSum, comm,
                       stream);
}
float *makeOnes(Rank &r) { return r.make(std::vector<float>(kCount, 1)); }

void setFaults(const char *faults) {
  setenv("WEFT_EMULATION_NCCL_FAIL", faults, 1);
}

//===----------------------------------------------------------------------===//
// Aborts
//===----------------------------------------------------------------------===//

/// Counts when the stream gets to what follows.
void countOnStream(Rank &r, CUstream stream) {
  EXPECT_OK(cuLaunchHostFunc(
      stream,
      [](void *data) { ++static_cast<SharedPlace *>(data)->counters[1]; },
      &r.shared));
}

/// Aborts from another thread, once all ranks have got to their operations.
void finishWithAbort(Rank &r, const std::vector<ncclComm_t> &comms) {
  std::atomic<bool> isDone{false};
  std::chrono::steady_clock::time_point begin;
  std::thread watcher([&] {
    r.await(1, r.size);
    // Time to end: an operation that does hides nothing but a failure.
    usleep(100000);
    EXPECT_FALSE(isDone);
    for (ncclComm_t comm : comms) {
      ncclResult_t state = ncclSystemError;
      EXPECT_NCCL(ncclCommGetAsyncError(comm, &state));
      EXPECT_EQ(state, ncclSuccess);
    }
    r.meet(2);
    begin = std::chrono::steady_clock::now();
    for (ncclComm_t comm : comms)
      EXPECT_NCCL(ncclCommAbort(comm));
  });
  EXPECT_OK(cuCtxSynchronize());
  isDone = true;
  watcher.join();
  // Nothing waits for a time; a machine with much to do may take some.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(NcclFaults, AbortEndsAnEndlessOperation) {
  runRanks(2, [](Rank &r) {
    setFaults("ncclAllReduce:2:endless@1");
    ncclComm_t comm = r.joinWithoutBlocking();
    float *place = makeOnes(r);
    EXPECT_EQ(reduce(comm, place, r.stream), ncclInProgress);
    EXPECT_EQ(Rank::settle(comm), ncclSuccess);
    EXPECT_EQ(r.download(place, 1)[0], 2);
    // Rank 1 never completes, and rank 0 waits for it.
    countOnStream(r, r.stream);
    EXPECT_NCCL(reduce(comm, place, r.stream));
    finishWithAbort(r, {comm});
  });
}

/// The second launch of a graph: operations are counted as they run.
TEST(NcclFaults, EndlessOperationOfAGraph) {
  runRanks(1, [](Rank &r) {
    setFaults("ncclAllReduce:2:endless");
    ncclComm_t comm = r.join();
    float *place = makeOnes(r);
    r.finish();
    CUgraph graph;
    CUgraphExec executable;
    EXPECT_OK(cuStreamBeginCapture(r.stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_NCCL(reduce(comm, place, r.stream));
    EXPECT_OK(cuStreamEndCapture(r.stream, &graph));
    EXPECT_OK(cuGraphInstantiate(&executable, graph, 0));
    EXPECT_OK(cuGraphLaunch(executable, r.stream));
    r.finish();
    countOnStream(r, r.stream);
    EXPECT_OK(cuGraphLaunch(executable, r.stream));
    finishWithAbort(r, {comm});
    // A later launch does nothing.
    EXPECT_OK(cuGraphLaunch(executable, r.stream));
    r.finish();
  });
}

/// As on a device, later work reads results that never came.
TEST(NcclFaults, ResultsOfAbortedOperations) {
  runRanks(1, [](Rank &r) {
    setFaults("ncclAllReduce:1:endless");
    ncclComm_t comm = r.join(), other = r.join(), third = r.join();
    float *place = makeOnes(r);
    auto *first = r.allocate<float>(kCount),
         *second = r.allocate<float>(kCount);
    r.finish();
    EXPECT_NCCL(
        ncclAllGather(place, second, kCount, ncclFloat32, third, r.stream));
    EXPECT_NCCL(ncclCommAbort(third));
    countOnStream(r, r.stream);
    EXPECT_NCCL(ncclAllReduce(place, first, kCount, ncclFloat32, ncclSum, comm,
                              r.stream));
    finishWithAbort(r, {comm});
    for (float *result : {first, second})
      EXPECT_NCCL(
          ncclAllGather(result, result, kCount, ncclFloat32, other, r.stream));
    r.finish();
    EXPECT_NE(r.download(second, 1)[0], 1);
    Rank::leave(other);
  });
}

/// Rank 0 begins with one communicator, rank 1 with the other one.
TEST(NcclFaults, UnlikeOrderOfTwoCommunicators) {
  runRanks(2, [](Rank &r) {
    ncclComm_t comms[] = {r.join(), r.join()};
    CUstream streams[2];
    for (CUstream &stream : streams)
      EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    float *place = makeOnes(r), *other = makeOnes(r);
    r.finish();
    // In like order they end.
    EXPECT_NCCL(reduce(comms[0], place, streams[0]));
    EXPECT_NCCL(reduce(comms[1], other, streams[1]));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(r.download(place, 1)[0], 2);
    countOnStream(r, streams[r.rank]);
    EXPECT_NCCL(reduce(comms[r.rank], place, streams[r.rank]));
    EXPECT_NCCL(reduce(comms[1 - r.rank], other, streams[1 - r.rank]));
    finishWithAbort(r, {comms[0], comms[1]});
  });
}

TEST(NcclFaults, AbortEndsAnInit) {
  runRanks(2, [](Rank &r) {
    setFaults("ncclCommInitRankConfig:1:absent@1");
    ncclUniqueId id = r.shareId();
    ncclConfig_t config = makeConfig(0);
    ncclComm_t comm = nullptr;
    EXPECT_EQ(ncclCommInitRankConfig(&comm, 2, id, r.rank, &config),
              ncclInProgress);
    r.meet(2);
    ncclResult_t state = ncclSuccess;
    EXPECT_NCCL(ncclCommGetAsyncError(comm, &state));
    EXPECT_EQ(state, ncclInProgress);
    EXPECT_NCCL(ncclCommAbort(comm));
    EXPECT_EQ(ncclCommGetAsyncError(comm, &state), ncclInvalidArgument);
  });
}

TEST(NcclFaults, AbortEndsASplit) {
  runRanks(2, [](Rank &r) {
    setFaults("ncclCommSplit:1:absent@1");
    ncclComm_t comm = r.joinWithoutBlocking(), child = nullptr;
    EXPECT_EQ(ncclCommSplit(comm, 0, 0, &child, nullptr), ncclInProgress);
    r.meet(2);
    ncclResult_t state = ncclSuccess;
    EXPECT_NCCL(ncclCommGetAsyncError(child, &state));
    EXPECT_EQ(state, ncclInProgress);
    r.meet(2);
    // Each end of the child ends the split, without one of the parent.
    EXPECT_NCCL(ncclCommAbort(child));
    r.meet(2);
    EXPECT_NCCL(ncclCommAbort(comm));
  });
}

//===----------------------------------------------------------------------===//
// Processes that die
//===----------------------------------------------------------------------===//

TEST(NcclFaults, KilledPeerOfAnOperation) {
  runRanks(
      3,
      [](Rank &r) {
        ncclComm_t comm = r.join();
        float *place = makeOnes(r);
        EXPECT_NCCL(reduce(comm, place, r.stream));
        EXPECT_EQ(r.download(place, 1)[0], 3);
        if (r.rank == 2) {
          r.await(1, 2);
          raise(SIGKILL);
        }
        countOnStream(r, r.stream);
        EXPECT_NCCL(reduce(comm, place, r.stream));
        r.finish();
        ncclResult_t state = ncclSuccess;
        EXPECT_NCCL(ncclCommGetAsyncError(comm, &state));
        EXPECT_EQ(state, ncclRemoteError);
        hasText(lastError(comm), "has closed its connection");
        r.count(2);
        r.await(2, 2);
        EXPECT_NCCL(ncclCommAbort(comm));
      },
      /*killed=*/2);
}

/// Nothing is at work: who asks for the error sees it.
TEST(NcclFaults, KilledPeerOfAnIdleRank) {
  runRanks(
      2,
      [](Rank &r) {
        ncclComm_t comm = r.join();
        if (r.rank == 1)
          raise(SIGKILL);
        EXPECT_EQ(Rank::waitForError(comm), ncclRemoteError);
        hasText(lastError(comm), "rank 1 has closed its connection");
        EXPECT_REFUSED(reduce(comm, makeOnes(r), r.stream), ncclRemoteError,
                       "a communicator that has failed");
        EXPECT_NCCL(ncclCommAbort(comm));
      },
      /*killed=*/1);
}

/// Processes that come as rank 1 and die, until rank 0 has seen one of them.
void comeAndDie(Rank &r, const ncclUniqueId &id) {
  while (r.shared.counters[1] == 0) {
    const pid_t child = fork();
    if (child == 0) {
      ncclConfig_t config = makeConfig(0);
      ncclComm_t comm = nullptr;
      ncclCommInitRankConfig(&comm, 3, id, 1, &config);
      usleep(20000); // some of them are killed before they come
      raise(SIGKILL);
    }
    waitpid(child, nullptr, 0);
  }
}

/// Rank 2 never comes.
TEST(NcclFaults, KilledPeerOfAnInit) {
  runRanks(3, [](Rank &r) {
    ncclUniqueId id = r.shareId();
    if (r.rank == 1)
      comeAndDie(r, id);
    if (r.rank != 0)
      return;
    ncclConfig_t config = makeConfig(0);
    ncclComm_t comm = nullptr;
    EXPECT_EQ(ncclCommInitRankConfig(&comm, 3, id, 0, &config), ncclInProgress);
    EXPECT_EQ(Rank::waitForError(comm), ncclRemoteError);
    r.count(1);
    hasText(lastError(comm),
            "a rank that has joined has closed its connection");
    EXPECT_NCCL(ncclCommAbort(comm));
  });
}

//===----------------------------------------------------------------------===//
// Injected errors
//===----------------------------------------------------------------------===//

TEST(NcclFaults, CallsThatFail) {
  runRanks(2, [](Rank &r) {
    setFaults("ncclAllReduce:2:ncclSystemError@1,"
              "ncclGetVersion:1:ncclInternalError,async:2:ncclRemoteError");
    int version;
    EXPECT_EQ(ncclGetVersion(&version), ncclInternalError);
    EXPECT_NCCL(ncclGetVersion(&version));
    ncclComm_t comm = r.join();
    float *place = makeOnes(r);
    EXPECT_NCCL(reduce(comm, place, r.stream));
    if (r.rank == 1)
      EXPECT_REFUSED(reduce(comm, place, r.stream), ncclSystemError,
                     "ncclAllReduce fails as asked");
    EXPECT_EQ(r.download(place, 1)[0], 2);
    ncclResult_t state = ncclInProgress;
    EXPECT_NCCL(ncclCommGetAsyncError(comm, &state));
    EXPECT_EQ(state, ncclSuccess);
    EXPECT_NCCL(reduce(comm, place, r.stream));
    EXPECT_EQ(r.download(place, 1)[0], 4);
    EXPECT_NCCL(ncclCommGetAsyncError(comm, &state));
    EXPECT_EQ(state, ncclRemoteError);
    r.meet(1);
    EXPECT_NCCL(ncclCommAbort(comm));
  });
}

TEST(NcclFaults, ValuesThatAreNone) {
  auto expectEnd = [](const char *faults, const char *text) {
    EXPECT_EXIT(
        {
          int version;
          setFaults(faults);
          ncclGetVersion(&version);
        },
        testing::ExitedWithCode(99),
        std::string("emulation: error: expects WEFT_EMULATION_NCCL_FAIL to ") +
            text);
  };
  expectEnd("ncclAllReduce", "be ENTRY:N:ERROR, but got 'ncclAllReduce'");
  expectEnd("ncclAllReduce:0:ncclSystemError", "have the number of a call");
  expectEnd("ncclNone:1:ncclSystemError", "name an entry point or async");
  expectEnd("ncclAllReduce:1:none", "end with an error, but got 'none'");
  expectEnd("ncclAllReduce:1:absent", "end with an error, but got 'absent'");
  expectEnd("ncclCommSplit:1:endless", "end with an error, but got 'endless'");
  expectEnd("async:1:endless", "end with an error, but got 'endless'");
  expectEnd("ncclSend:1:ncclSystemError@x", "have the number of a rank");
}

} // namespace
} // namespace weft::emulation
