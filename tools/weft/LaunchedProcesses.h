//===- LaunchedProcesses.h - Stopping what was launched ---------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_LAUNCHEDPROCESSES_H
#define WEFT_TOOLS_WEFT_LAUNCHEDPROCESSES_H

#include "weft/Formats/SaveLocks.h"

#include <csignal>

namespace weft {

/// The hint after a rank was lost.
inline constexpr char kResumeHint[] = "the checkpoints so far are complete: "
                                      "--resume=auto continues from the newest";

/// Makes this process the parent of what its children leave behind, so that
/// killDescendants() finds it.
void adoptOrphans();

/// Ends all processes that this one has started, however deep, and waits for
/// them.
void killDescendants();

/// Tells ranks that are started later whether standard output is a terminal,
/// and which.
void offerTerminal();

/// Whether a process is stopped (SIGSTOP): it does not end by itself.
bool isStopped(pid_t process);

/// The signals that ask the launcher to stop, from when the object is made.
/// They are kept: no signal is lost, whenever it comes.
class StopSignals {
public:
  StopSignals();

  /// Is readable when a signal has come.
  int file() const { return queue.get(); }
  /// Takes the signals that have come.
  void take();
  /// The first signal that has come, or 0.
  int first() const { return firstNumber; }
  /// The SIGINT or SIGTERM that came after it, or 0: end at once.
  int second() const { return secondNumber; }
  /// In a child, before it becomes another program.
  void restore() const;

private:
  Descriptor queue;
  sigset_t before = {};
  int firstNumber = 0, secondNumber = 0;
};

/// Those of this process, which begin with the first call.
StopSignals &stopSignals();

} // namespace weft

#endif // WEFT_TOOLS_WEFT_LAUNCHEDPROCESSES_H
