//===- Signals.h - Stop after the step when a signal asks for it *- C++ -*-===//
//
// The first SIGINT, SIGTERM, SIGHUP or SIGUSR1 asks the loop to finish its
// step, save and leave with 75. A second SIGINT or SIGTERM ends the process at
// once with 128 + signal, and so does the first signal when nothing can be
// saved. A message then says what is lost. A SIGHUP that was ignored when the
// program started (nohup) stays ignored. While a run lasts, a file-size limit
// is an error of the write instead of a deadly signal, and so is a closed pipe.
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

/// Handlers are installed while the scope lives; one scope at a time.
class SignalScope : public StopRequest {
public:
  /// `canSave`: a first signal is answered by saving and stopping. `tells`: a
  /// signal that ends the process at once says so, as one process of a run.
  explicit SignalScope(bool canSave, bool tells = false);
  ~SignalScope() override;
  SignalScope(const SignalScope &) = delete;
  SignalScope &operator=(const SignalScope &) = delete;

  int stopSignal() const override;

private:
  struct Saved {
    int number;
    struct sigaction action;
  };
  static constexpr std::size_t kStackBytes = std::size_t(1) << 16;

  void install(int number, void (*handler)(int));
  void leaveStack();

  std::vector<Saved> saved;
  std::vector<char> stack; // of the handlers
  stack_t savedStack = {};
  bool hasStack = false;
};

} // namespace weft

#endif // WEFT_RUNTIME_RUN_SIGNALS_H
