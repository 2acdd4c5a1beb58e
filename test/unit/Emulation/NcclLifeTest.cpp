//===- NcclLifeTest.cpp - Communicators of the emulated NCCL --------------===//

#include "EmulatedRanks.h"

#include <chrono>
#include <cstring>
#include <thread>

namespace weft::emulation {
namespace {

constexpr size_t kCount = 64;

ncclResult_t reduce(Rank &r, ncclComm_t comm, float *place, CUstream stream) {
  return ncclAllReduce(place, place, kCount, ncclFloat32, ncclSum, comm,
                       stream);
}
ncclResult_t reduce(Rank &r, ncclComm_t comm, float *place) {
  return reduce(r, comm, place, r.stream);
}
float *makeOnes(Rank &r) { return r.make(std::vector<float>(kCount, 1)); }

int sizeOf(ncclComm_t comm) {
  int size = -1;
  EXPECT_NCCL(ncclCommCount(comm, &size));
  return size;
}
int rankOf(ncclComm_t comm) {
  int rank = -1;
  EXPECT_NCCL(ncclCommUserRank(comm, &rank));
  return rank;
}

//===----------------------------------------------------------------------===//
// Beginnings
//===----------------------------------------------------------------------===//

TEST(NcclLife, Versions) {
  runRanks(1, [](Rank &) {
    int version = 0;
    EXPECT_NCCL(ncclGetVersion(&version));
    EXPECT_EQ(version, NCCL_VERSION_CODE);
    setenv("WEFT_EMULATION_NCCL_VERSION", "21805", 1);
    EXPECT_NCCL(ncclGetVersion(&version));
    EXPECT_EQ(version, 21805);
    EXPECT_EQ(ncclGetVersion(nullptr), ncclInvalidArgument);
    EXPECT_STREQ(ncclGetErrorString(ncclInvalidUsage), "invalid usage");
  });
}

TEST(NcclLife, RanksKnowTheirNumbers) {
  runRanks(3, [](Rank &r) {
    ncclComm_t comm = r.join();
    EXPECT_EQ(sizeOf(comm), 3);
    EXPECT_EQ(rankOf(comm), r.rank);
    int device = -1;
    EXPECT_NCCL(ncclCommCuDevice(comm, &device));
    EXPECT_EQ(device, 0);
    Rank::leave(comm);
  });
}

TEST(NcclLife, ArgumentsOfInit) {
  runRanks(1, [](Rank &r) {
    ncclUniqueId id = r.shareId(), none = {};
    ncclComm_t comm = nullptr;
    ncclConfig_t config = makeConfig();
    auto init = [&](int size, int rank, ncclUniqueId &with) {
      return ncclCommInitRankConfig(&comm, size, with, rank, &config);
    };
    EXPECT_REFUSED(ncclCommInitRankConfig(nullptr, 1, id, 0, &config),
                   ncclInvalidArgument, "place is null");
    EXPECT_REFUSED(init(1, 1, id), ncclInvalidArgument, "got rank 1 of 1");
    EXPECT_REFUSED(init(1, -1, id), ncclInvalidArgument, "got rank -1 of 1");
    EXPECT_REFUSED(init(0, 0, id), ncclInvalidArgument, "got rank 0 of 0");
    EXPECT_REFUSED(init(1, 0, none), ncclInvalidArgument, "expects an id");
    config.magic = 0;
    EXPECT_REFUSED(init(1, 0, id), ncclInvalidArgument,
                   "NCCL_CONFIG_INITIALIZER");
    config = makeConfig(2);
    EXPECT_REFUSED(init(1, 0, id), ncclInvalidArgument,
                   "expects blocking to be 0 or 1, but got 2");
    config = makeConfig(1, 65);
    EXPECT_REFUSED(init(1, 0, id), ncclInvalidArgument, "maxCTAs 65");
    config = makeConfig();
    config.netName = "none";
    EXPECT_REFUSED(init(1, 0, id), ncclInvalidArgument, "does not support");
    EXPECT_NCCL(ncclCommInitRankConfig(&comm, 1, id, 0, nullptr));
    Rank::leave(comm);
    // An id is for one communicator.
    config = makeConfig();
    EXPECT_REFUSED(init(1, 0, id), ncclInvalidUsage, "each id once");
    EXPECT_EQ(comm, nullptr);
    EXPECT_REFUSED(init(2, 1, id), ncclSystemError, "nobody listens");
  });
}

/// Two ranks join in a way that rank 0 refuses: both get the text.
void expectUnjoined(const std::string &text,
                    const std::function<void(Rank &, int &, int &)> &change) {
  runRanks(3, [&](Rank &r) {
    ncclUniqueId id = r.shareId();
    int size = r.size, rank = r.rank;
    change(r, size, rank);
    ncclComm_t comm = nullptr;
    ncclConfig_t config = makeConfig();
    // The third one may come after rank 0 has refused another one.
    ncclResult_t result =
        ncclCommInitRankConfig(&comm, size, id, rank, &config);
    if (r.rank == 0)
      hasText(lastError(), text);
    EXPECT_TRUE(result == ncclInvalidUsage ||
                (r.rank != 0 &&
                 (result == ncclSystemError || result == ncclRemoteError)))
        << result;
    EXPECT_EQ(comm, nullptr);
  });
}

TEST(NcclLife, RanksThatDoNotFit) {
  expectUnjoined(
      "expects 3 ranks, but rank 1 expects 4",
      [](Rank &r, int &size, int &) { size += r.rank == 1 ? 1 : 0; });
  expectUnjoined("two processes are rank 1 of one id",
                 [](Rank &r, int &, int &rank) { rank = r.rank > 0 ? 1 : 0; });
  expectUnjoined("use the same device", [](Rank &r, int &, int &) {
    setenv("WEFT_EMULATION_UUID", r.rank == 0 ? "7" : "8", 1);
  });
}

//===----------------------------------------------------------------------===//
// Without blocking
//===----------------------------------------------------------------------===//

TEST(NcclLife, NotReadyBeforeAllRanksHaveCome) {
  runRanks(2, [](Rank &r) {
    ncclUniqueId id = r.shareId();
    ncclConfig_t config = makeConfig(0);
    ncclComm_t comm = nullptr;
    if (r.rank == 1)
      r.await(1, 1);
    EXPECT_EQ(ncclCommInitRankConfig(&comm, 2, id, r.rank, &config),
              ncclInProgress);
    ncclResult_t state = ncclSuccess;
    int size = 0;
    if (r.rank == 0) {
      EXPECT_NCCL(ncclCommGetAsyncError(comm, &state));
      EXPECT_EQ(state, ncclInProgress);
      EXPECT_REFUSED(ncclCommCount(comm, &size), ncclInvalidArgument,
                     "before ncclCommGetAsyncError has given ncclSuccess");
      r.count(1);
    }
    // Nor before the program has seen that they have.
    if (r.rank == 0) {
      r.await(2, 1);
      usleep(20000); // time for the end of the initialization on this rank
      EXPECT_EQ(ncclCommCount(comm, &size), ncclInvalidArgument);
    }
    EXPECT_EQ(Rank::settle(comm), ncclSuccess);
    r.count(2);
    EXPECT_EQ(sizeOf(comm), 2);
    // The first operations connect ranks; only the first are in progress.
    float *place = makeOnes(r);
    EXPECT_EQ(reduce(r, comm, place), ncclInProgress);
    EXPECT_REFUSED(reduce(r, comm, place), ncclInvalidArgument,
                   "before ncclCommGetAsyncError");
    EXPECT_EQ(Rank::settle(comm), ncclSuccess);
    EXPECT_NCCL(reduce(r, comm, place));
    EXPECT_REFUSED(ncclCommFinalize(comm), ncclInvalidUsage,
                   "expects no operations that have not run, but got 2");
    EXPECT_EQ(r.download(place, 1)[0], 4);
    EXPECT_EQ(ncclCommFinalize(comm), ncclInProgress);
    EXPECT_EQ(ncclCommDestroy(comm), ncclInvalidArgument);
    EXPECT_EQ(Rank::settle(comm), ncclSuccess);
    EXPECT_NCCL(ncclCommDestroy(comm));
  });
}

TEST(NcclLife, UseAfterTheEnd) {
  runRanks(2, [](Rank &r) {
    ncclComm_t comm = r.join(), other = r.join();
    float *place = makeOnes(r);
    EXPECT_NCCL(ncclCommFinalize(comm));
    EXPECT_REFUSED(reduce(r, comm, place), ncclInvalidUsage,
                   "after ncclCommFinalize");
    EXPECT_REFUSED(ncclCommFinalize(comm), ncclInvalidUsage,
                   "after ncclCommFinalize");
    EXPECT_NCCL(ncclCommDestroy(comm));
    ncclResult_t state;
    EXPECT_REFUSED(reduce(r, comm, place), ncclInvalidArgument,
                   "after ncclCommDestroy");
    EXPECT_REFUSED(ncclCommDestroy(comm), ncclInvalidArgument,
                   "after ncclCommDestroy");
    EXPECT_REFUSED(ncclCommAbort(comm), ncclInvalidArgument,
                   "after ncclCommDestroy");
    EXPECT_REFUSED(ncclCommGetAsyncError(comm, &state), ncclInvalidArgument,
                   "after ncclCommDestroy");
    r.meet(1);
    EXPECT_NCCL(ncclCommAbort(other));
    EXPECT_REFUSED(reduce(r, other, place), ncclInvalidArgument,
                   "after ncclCommAbort");
  });
}

TEST(NcclLife, TwoThreads) {
  runRanks(1, [](Rank &r) {
    ncclComm_t comm = r.join();
    float *place = makeOnes(r);
    auto callElsewhere = [&] {
      ncclResult_t result = ncclSuccess;
      std::thread([&] {
        int size;
        result = ncclCommCount(comm, &size);
      }).join();
      return result;
    };
    EXPECT_NCCL(callElsewhere());
    EXPECT_NCCL(ncclGroupStart());
    EXPECT_NCCL(reduce(r, comm, place));
    EXPECT_REFUSED(callElsewhere(), ncclInvalidUsage,
                   "that another thread uses now");
    EXPECT_NCCL(ncclGroupEnd());
    EXPECT_NCCL(callElsewhere());
    r.finish();
    Rank::leave(comm);
  });
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

class Splits : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(NcclLife, Splits, testing::Values(0, 1));

/// Even ranks in reverse order, odd ranks in order, and rank 3 nowhere.
TEST_P(Splits, ColorsAndKeys) {
  runRanks(4, [](Rank &r) {
    const bool isBlocking = GetParam() == 1;
    ncclComm_t comm = isBlocking ? r.join() : r.joinWithoutBlocking();
    ncclComm_t child = nullptr;
    const int color = r.rank == 3 ? NCCL_SPLIT_NOCOLOR : r.rank % 2;
    const int key = color == 0 ? -r.rank : 0;
    EXPECT_EQ(ncclCommSplit(comm, color, key, &child, nullptr),
              isBlocking ? ncclSuccess : ncclInProgress);
    if (!isBlocking)
      EXPECT_EQ(Rank::settle(comm), ncclSuccess);
    if (color == NCCL_SPLIT_NOCOLOR) {
      EXPECT_EQ(child, nullptr);
    } else {
      if (!isBlocking)
        EXPECT_EQ(Rank::settle(child), ncclSuccess);
      EXPECT_EQ(sizeOf(child), color == 0 ? 2 : 1);
      EXPECT_EQ(rankOf(child), r.rank == 0 ? 1 : 0);
      float *own = r.make(std::vector<float>{static_cast<float>(r.rank)});
      auto *all = r.allocate<float>(2);
      EXPECT_EQ(ncclAllGather(own, all, 1, ncclFloat32, child, r.stream),
                isBlocking ? ncclSuccess : ncclInProgress);
      EXPECT_EQ(Rank::settle(child), ncclSuccess);
      if (color == 0)
        EXPECT_EQ(r.download(all, 2), (std::vector<float>{2, 0}));
      else
        EXPECT_EQ(r.download(all, 1), std::vector<float>{1});
    }
    // The parent stays usable.
    float *place = makeOnes(r);
    EXPECT_EQ(reduce(r, comm, place),
              isBlocking ? ncclSuccess : ncclInProgress);
    EXPECT_EQ(Rank::settle(comm), ncclSuccess);
    EXPECT_EQ(r.download(place, 1)[0], 4);
    if (child)
      EXPECT_NCCL(ncclCommDestroy(child));
    EXPECT_NCCL(ncclCommDestroy(comm));
  });
}

TEST(NcclLife, ArgumentsOfSplit) {
  runRanks(1, [](Rank &r) {
    ncclComm_t comm = r.join(), child = nullptr;
    EXPECT_REFUSED(ncclCommSplit(comm, -2, 0, &child, nullptr),
                   ncclInvalidArgument, "expects a color from 0 on");
    EXPECT_REFUSED(ncclCommSplit(comm, 0, 0, nullptr, nullptr),
                   ncclInvalidArgument, "place is null");
    ncclConfig_t config = makeConfig(3);
    EXPECT_REFUSED(ncclCommSplit(comm, 0, 0, &child, &config),
                   ncclInvalidArgument, "expects blocking");
    float *place = makeOnes(r);
    EXPECT_NCCL(reduce(r, comm, place));
    EXPECT_REFUSED(ncclCommSplit(comm, 0, 0, &child, nullptr), ncclInvalidUsage,
                   "wait for their streams first");
    r.finish();
    Rank::leave(comm);
  });
}

} // namespace
} // namespace weft::emulation
