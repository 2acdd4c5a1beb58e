//===- LaunchWatch.h - Heartbeats of ranks outside of MPI -------*- C++ -*-===//
//
// Ranks that run watch each other. While they start and end, inside MPI_Init
// and MPI_Finalize, they cannot, and the launcher watches them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_LAUNCHWATCH_H
#define WEFT_TOOLS_WEFT_LAUNCHWATCH_H

#include "weft/Runtime/Collectives/Processes.h"

#include <cstdint>

namespace weft {

class LaunchWatch {
public:
  LaunchWatch(int64_t ranks, double timeout);

  /// The first word of a heartbeat: the value of kLaunchVariable.
  const std::string &word() const { return key; }
  /// Takes a heartbeat out of a line, if there is one. Another rank may have
  /// written the beginning of a line before it.
  void take(std::string &line);

  /// Seconds after which to look again.
  double pause() const { return heartbeatPause(timeout); }
  /// Takes the time. One pause counts at most: if this process was stopped,
  /// the ranks may have been as well.
  void pass(double seconds);

  /// Whether every rank keeps the signals that stop a run.
  bool haveAllStarted() const;
  /// Whether the ranks run steps that nothing saves.
  bool isUnsaved() const;
  /// The error of ranks that owe heartbeats; "" if there are none.
  std::string findSilence() const;

private:
  struct Rank {
    RankStage stage = RankStage::Absent;
    double heardAt = 0; // of `waited`
  };

  double limitOf(const Rank &rank) const;
  bool isSilent(const Rank &rank) const;

  const std::string key;
  const double timeout;
  std::vector<Rank> all;
  double waited = 0;
  bool isEnding = false; // the first rank is in MPI_Finalize
  double endingAt = 0;   // of `waited`
};

} // namespace weft

#endif // WEFT_TOOLS_WEFT_LAUNCHWATCH_H
