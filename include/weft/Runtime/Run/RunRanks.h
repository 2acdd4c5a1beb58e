//===- RunRanks.h - The rank parts that a process runs ----------*- C++ -*-===//
//
// One rank runs on the thread of the process. Several are threads of their own,
// each with the team that it formed for its device: what a rank does, it does
// on its thread. Where each rank is a process, this one has a single one, and
// the processes agree on how each part of a run has ended.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_RUNRANKS_H
#define WEFT_RUNTIME_RUN_RUNRANKS_H

#include "weft/Runtime/Collectives/Voting.h"
#include "weft/Runtime/Run/RankPart.h"

#include <functional>

namespace weft {

class Ranks {
public:
  /// What a rank does.
  using Work = std::function<Status(RankPart &)>;

  explicit Ranks(const RunInputs &inputs);
  ~Ranks();
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;

  /// Makes the ranks that this process has, and their threads if there are
  /// several.
  Status start();

  /// The first of this process: where it has all, the one that speaks for them,
  /// number 0.
  const RankPart &first() const;
  /// The same for all, in a process one after the other: no collectives. Ends
  /// with the first that fails.
  Status inTurn(const Work &work);
  /// All ranks at once. Of several that fail, the error of the one that they
  /// agreed was the reason; else the one that says the most (severityOf), the
  /// first of equals.
  Status together(const Work &work);

  /// For what this process does without the others and may take long: while the
  /// result lives, they know that it is alive. Null where it has all ranks.
  std::unique_ptr<HeartbeatSender> sendHeartbeats();

  /// What all processes say of a part of the run when they have done it: the
  /// texts, by rank, or the error that all end with, which one of them reports.
  /// `own` is how it went here. Where this process has all ranks, `text` alone.
  /// An error that was settled before stays as it is.
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
