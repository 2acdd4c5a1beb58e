//===- Signals.h - Stop after the step when a signal asks for it *- C++ -*-===//
//
// The first SIGINT, SIGTERM, SIGHUP or SIGUSR1 asks the loop to finish its
// step, save and leave with 75. A second SIGINT or SIGTERM ends the process at
// once with 128 + signal, and so does the first signal when nothing can be
// saved; a message then names the loss. A signal that comes before the loop
// is kept for it: a scheduler may stop a run that has just begun. A SIGHUP that
// was ignored when the program started (nohup) stays ignored. While a run
// lasts, a file-size limit is an error of the write instead of a deadly signal,
// and so is a closed pipe.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_SIGNALS_H
#define WEFT_RUNTIME_RUN_SIGNALS_H

#include <csignal>
#include <cstddef>
#include <vector>

namespace weft {

/// Whether a rank was asked to stop.
class StopRequest {
public:
  virtual ~StopRequest() = default;
  /// The signal that asked for it, or 0.
  virtual int stopSignal() const = 0;
};

/// Blocks the signals that stop a run, so that one that comes before the
/// program has started itself again is pending when EarlySignals begin.
void blockStopSignals();

/// Handlers and a stack for them, while the object lives.
///
/// Kernels of oneDNN 2.6 keep numbers far below the end of their stack, where
/// the frame of a handler would lie: handlers of this thread, which the system
/// gives signals to first, have a stack of their own.
class SignalHandlers {
public:
  SignalHandlers();
  ~SignalHandlers();
  SignalHandlers(const SignalHandlers &) = delete;
  SignalHandlers &operator=(const SignalHandlers &) = delete;

  void install(int number, void (*handler)(int));
  /// The signals that stop a run, but for a SIGHUP that is ignored.
  void installForStops(void (*handler)(int));

private:
  struct Saved {
    int number;
    struct sigaction action;
  };
  static constexpr std::size_t kStackBytes = std::size_t(1) << 16;

  std::vector<Saved> saved;
  std::vector<char> stack;
  stack_t savedStack = {};
  bool hasStack = false;
};

/// From the start of a process until its run is known. A signal is kept for
/// the SignalScope that begins meanwhile; a second SIGINT or SIGTERM ends the
/// process. One at a time.
class EarlySignals {
public:
  EarlySignals();
  ~EarlySignals();

  /// The run saves nothing: a signal that has come ends the process, and so
  /// does each that comes.
  void endProcess();

private:
  SignalHandlers handlers;
};

/// The message after "ended by SIGINT" of a run that does not save, and its
/// hint.
inline constexpr char kStepsAreLost[] =
    ": all steps of this run are lost, for it has no --save-dir";
inline constexpr char kStepsAreLostHint[] =
    "with --save-dir DIR a signal saves, and --resume=auto continues the run";

/// Which signals say what they cost when they end the process at once. Of
/// several processes one speaks, of SIGINT and SIGUSR1. SIGTERM says nothing:
/// launchers end the other ranks with it after one has failed, which has its
/// own message.
enum class EndNotice { None, OfInterrupt, OfAll };

/// Handlers are installed while the scope lives; one scope at a time.
class SignalScope : public StopRequest {
public:
  /// `canSave`: a first signal is answered by saving and stopping.
  explicit SignalScope(bool canSave, EndNotice notice = EndNotice::None);
  ~SignalScope() override;
  SignalScope(const SignalScope &) = delete;
  SignalScope &operator=(const SignalScope &) = delete;

  int stopSignal() const override;

private:
  SignalHandlers handlers;
};

} // namespace weft

#endif // WEFT_RUNTIME_RUN_SIGNALS_H
