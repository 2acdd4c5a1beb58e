//===- ReportElection.h - Which process reports a failure -------*- C++ -*-===//
//
// Processes that cannot vote any more elect the one that reports why. A rank
// that has found a failure sends FailureNotice::Failed. It sends
// FailureNotice::Reports, and is elected, unless another rank does so first.
//
// Notices take a moment to arrive, so two ranks may send Reports. Both see the
// other's, and the lower rank is elected.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_REPORTELECTION_H
#define WEFT_RUNTIME_RUN_REPORTELECTION_H

#include "weft/Runtime/Collectives/Consensus.h"

namespace weft {

/// One rank calls it once, when its run has failed.
class ReportElection {
public:
  /// `processes` connects all processes of the run. No vote follows.
  explicit ReportElection(VotingConsensus &processes) : processes(processes) {}

  /// Whether this rank reports the failure. `absence` has the ranks that it
  /// waited for; none: the failure is another one. Takes at most 5 s.
  bool wins(const Absence &absence) const;

  /// Gives another rank the time to report: a launcher ends all processes when
  /// one has ended. Takes at most 5.3 s.
  void awaitReport() const;

private:
  bool hears(FailureNotice notice, const std::vector<int> &ranks) const;
  bool hearsReport() const;
  bool hasReported() const;
  bool isReported(const std::vector<int> &left) const;
  bool waitsForSender(const std::vector<int> &missing) const;
  int countContenders(const std::vector<int> &missing) const;
  bool awaitTurn(const std::vector<int> &missing, double seconds) const;
  bool sendReport() const;

  VotingConsensus &processes;
};

} // namespace weft

#endif // WEFT_RUNTIME_RUN_REPORTELECTION_H
