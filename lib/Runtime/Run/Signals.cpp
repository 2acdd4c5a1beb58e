//===- Signals.cpp - Stop after the step when a signal asks for it --------===//

#include "weft/Runtime/Run/Signals.h"

#include "weft/Base/Temporaries.h"

#include <atomic>

#include <unistd.h>

using namespace weft;

// The only global state of the runtime: a signal handler gets no context. The
// handler may run on any thread, and ranks that are threads read these values.
static std::atomic<int> stopRequested{0}, mayStopLater{0}, endRequested{0},
    isOnTerminal{0};
static std::atomic<EndNotice> endNotice{EndNotice::None};
static_assert(std::atomic<int>::is_always_lock_free, "handlers take no lock");

static constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGUSR1, SIGHUP};

/// A closed terminal sends SIGHUP twice (the shell does, and the kernel), and a
/// scheduler may repeat its SIGUSR1: neither must cut the save short.
static bool mayEndASave(int number) {
  return number == SIGINT || number == SIGTERM;
}

namespace {
/// A message of a signal handler, which may call little else than write().
class HandlerText {
public:
  HandlerText &add(const char *more) {
    for (; *more && size < sizeof text; ++more)
      text[size++] = *more;
    return *this;
  }
  void print() const {
    for (size_t done = 0; done < size;) {
      const ssize_t part = ::write(STDERR_FILENO, text + done, size - done);
      if (part <= 0)
        return;
      done += size_t(part);
    }
  }

private:
  char text[400];
  size_t size = 0;
};
} // namespace

static const char *signalName(int number) {
  return number == SIGINT    ? "SIGINT"
         : number == SIGTERM ? "SIGTERM"
         : number == SIGHUP  ? "SIGHUP"
                             : "SIGUSR1";
}

/// Tells which steps are lost with the process.
static void tellOfEnd(int number) {
  HandlerText text;
  // The line of a progress bar, and the ^C of the terminal, have no end.
  text.add(isOnTerminal ? "\n" : "").add("weft: error: ended by ");
  text.add(signalName(number));
  if (mayStopLater)
    text.add(" before the state was saved: all steps since the last checkpoint "
             "are lost\n");
  else
    text.add(kStepsAreLost).add("\nhint: ").add(kStepsAreLostHint).add("\n");
  text.print();
}

[[noreturn]] static void endNow(int number) {
  const EndNotice notice = endNotice;
  if (notice == EndNotice::OfAll || (notice == EndNotice::OfInterrupt &&
                                     (number == SIGINT || number == SIGUSR1)))
    tellOfEnd(number);
  removeTemporaries();
  _exit(128 + number);
}

static void onSignal(int number) {
  if (!mayStopLater || (endRequested && mayEndASave(number)))
    endNow(number);
  if (mayEndASave(number))
    endRequested = number;
  if (!stopRequested)
    stopRequested = number;
}

static sigset_t stopSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : kStopSignals)
    sigaddset(&set, number);
  return set;
}

void weft::blockStopSignals() {
  const sigset_t set = stopSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

//===----------------------------------------------------------------------===//
// SignalHandlers
//===----------------------------------------------------------------------===//

SignalHandlers::SignalHandlers() : stack(kStackBytes) {
  stack_t own = {};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  hasStack = ::sigaltstack(&own, &savedStack) == 0;
}

SignalHandlers::~SignalHandlers() {
  for (const Saved &old : saved)
    sigaction(old.number, &old.action, nullptr);
  if (hasStack)
    ::sigaltstack(&savedStack, nullptr);
}

void SignalHandlers::install(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  saved.push_back({number, {}});
  sigaction(number, &action, &saved.back().action);
}

/// As nohup leaves SIGHUP for the program that it starts.
static bool isIgnored(int number) {
  struct sigaction now;
  return sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

void SignalHandlers::installForStops(void (*handler)(int)) {
  for (int number : kStopSignals)
    if (number != SIGHUP || !isIgnored(number))
      install(number, handler);
}

//===----------------------------------------------------------------------===//
// EarlySignals
//===----------------------------------------------------------------------===//

EarlySignals::EarlySignals() {
  mayStopLater = 1;
  handlers.installForStops(onSignal);
  const sigset_t set = stopSignals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

/// The handlers go, and no later run may see the signals of this one.
EarlySignals::~EarlySignals() { stopRequested = endRequested = 0; }

void EarlySignals::endProcess() {
  mayStopLater = 0;
  if (int number = stopRequested)
    endNow(number);
}

//===----------------------------------------------------------------------===//
// SignalScope
//===----------------------------------------------------------------------===//

SignalScope::SignalScope(bool canSave, EndNotice notice) {
  mayStopLater = canSave;
  endNotice = notice;
  isOnTerminal = ::isatty(STDOUT_FILENO) && ::isatty(STDERR_FILENO);
  if (int number = stopRequested; number && !canSave)
    endNow(number);
  handlers.installForStops(onSignal);
  for (int number : {SIGXFSZ, SIGPIPE})
    handlers.install(number, SIG_IGN);
}

/// Behind it nothing is saved any more: a signal ends the process.
SignalScope::~SignalScope() {
  stopRequested = endRequested = mayStopLater = 0;
  endNotice = EndNotice::None;
}

int SignalScope::stopSignal() const { return stopRequested; }
