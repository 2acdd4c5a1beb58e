//===- RunRanks.h - The rank parts that a process runs ----------*- C++ -*-===//
//
// A single rank runs on the main thread of the process. Several ranks have one
// thread each, with the thread team of its device; all work of a rank runs on
// its thread. If each rank is a process, this process has one rank, and the
// processes vote on the outcome of each part of a run.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_RUNRANKS_H
#define WEFT_RUNTIME_RUN_RUNRANKS_H

#include "weft/Runtime/Collectives/Consensus.h"
#include "weft/Runtime/Run/RankPart.h"

#include <functional>

namespace weft {

class Ranks {
public:
  /// A task that runs on a rank.
  using Work = std::function<Status(RankPart &)>;

  explicit Ranks(const RunInputs &inputs);
  ~Ranks();
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;

  /// Creates the ranks of this process, and their threads if there are several.
  Status start();

  /// The first rank of this process. If the process has all ranks, this is rank
  /// 0, which reports for all.
  const RankPart &first() const;
  /// Runs `work` on the ranks of this process one after another, without
  /// collectives. Stops at the first failure.
  Status inTurn(const Work &work);
  /// Runs `work` on all ranks at once. Of several errors it returns the most
  /// severe one (severityOf). Among equals the rank that the vote named as the
  /// reason wins, else the first rank.
  Status together(const Work &work);

  /// For long work of this process without the others: heartbeats are sent
  /// while the result lives. Null if this process has all ranks.
  std::unique_ptr<HeartbeatSender> sendHeartbeats();

  /// Votes with all processes after a part of the run. Returns the texts of all
  /// processes by rank, or the error that all end with; one process reports it.
  /// `own` is the outcome of this process. If this process has all ranks, the
  /// result is `text` alone. An error that was settled before is returned
  /// unchanged.
  Expected<std::vector<std::string>> reach(Status own, std::string text);
  /// The same without a text.
  Status settle(Status own);

private:
  struct Member;
  Status startProcess();
  Status run(Member &member, const Work &work);
  Error alone(Error error);

  const RunInputs &inputs;
  std::unique_ptr<VotingConsensus> processes; // if there are several
  int64_t parts = 0;                          // that the processes have done
  std::optional<bool> reportsFailure;         // after an election
  std::vector<std::unique_ptr<Member>> members;
};

} // namespace weft

#endif // WEFT_RUNTIME_RUN_RUNRANKS_H
