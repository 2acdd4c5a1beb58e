//===- CollectiveChecks.h - Checks of every transport -----------*- C++ -*-===//
//
// Bodies of tests that each rank calls with its transport: threads of one
// process, or processes of MPI.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_COLLECTIVES_COLLECTIVECHECKS_H
#define WEFT_TEST_UNIT_COLLECTIVES_COLLECTIVECHECKS_H

#include "weft/Runtime/Collectives/Transport.h"

namespace weft {

/// A test that every rank is to run in the same order.
struct RankCheck {
  const char *name;
  void (*run)(Transport &);
};

/// Bits of sums and gathers, sizes, types, chunks.
void checkReduceScatter(Transport &all);
void checkAllReduce(Transport &all);
void checkAllGather(Transport &all);
void checkHalfSums(Transport &all);
void checkCounts(Transport &all);
/// Groups, threads, orders of arrival.
void checkMesh(Transport &all);
void checkDelays(Transport &all);
void checkThreads(Transport &all);
/// Failures.
void checkLeft(Transport &all);
void checkMissing(Transport &all);
void checkSizes(Transport &all);
void checkWaiting(Transport &all);
void checkHeartbeats(Transport &all);
void checkSilence(Transport &all);
/// Votes.
void checkVotes(Transport &all);
void checkLostVotes(Transport &all);

constexpr RankCheck kRankChecks[] = {
    {"ReduceScatter", checkReduceScatter},
    {"AllReduce", checkAllReduce},
    {"AllGather", checkAllGather},
    {"HalfSums", checkHalfSums},
    {"Counts", checkCounts},
    {"Mesh", checkMesh},
    {"Delays", checkDelays},
    {"Threads", checkThreads},
    {"Left", checkLeft},
    {"Missing", checkMissing},
    {"Sizes", checkSizes},
    {"Waiting", checkWaiting},
    {"Heartbeats", checkHeartbeats},
    {"Silence", checkSilence},
    {"Votes", checkVotes},
    {"LostVotes", checkLostVotes},
};

/// A communicator of all ranks that may fail alone.
std::unique_ptr<Transport> copyOf(Transport &all);
/// Waits for all ranks.
void meet(Transport &all);

} // namespace weft

#endif // WEFT_TEST_UNIT_COLLECTIVES_COLLECTIVECHECKS_H
