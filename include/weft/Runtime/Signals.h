//===- Signals.h - Stop after the step on SIGINT and SIGTERM ----*- C++ -*-===//
//
// The first SIGINT or SIGTERM asks the loop to finish its step, save and leave
// with 75; the second one, or the first when nothing can be saved, ends the
// process at once with 128 + signal. While a run lasts, a file-size limit is an
// error of the write instead of a deadly signal, and so is a closed pipe.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_SIGNALS_H
#define WEFT_RUNTIME_SIGNALS_H

#include <csignal>

namespace weft {

/// Handlers are installed while the scope lives; one scope at a time.
class SignalScope {
public:
  /// `canSave`: a first signal is answered by saving and stopping.
  explicit SignalScope(bool canSave);
  ~SignalScope();
  SignalScope(const SignalScope &) = delete;
  SignalScope &operator=(const SignalScope &) = delete;

  /// The signal that asked to stop, or 0.
  int stopSignal() const;

private:
  struct sigaction oldInt, oldTerm, oldFileSize, oldPipe;
};

} // namespace weft

#endif // WEFT_RUNTIME_SIGNALS_H
