//===- Signals.cpp - Stop after the step on SIGINT and SIGTERM ------------===//

#include "weft/Runtime/Signals.h"

#include <csignal>
#include <unistd.h>

using namespace weft;

// The one global state of the runtime: a signal handler gets no context.
static volatile sig_atomic_t stopRequested = 0;
static volatile sig_atomic_t mayStopLater = 0;

static void onSignal(int number) {
  if (stopRequested || !mayStopLater)
    _exit(128 + number);
  stopRequested = number;
}

SignalScope::SignalScope(bool canSave) {
  stopRequested = 0;
  mayStopLater = canSave;
  struct sigaction action = {};
  action.sa_handler = onSignal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &oldInt);
  sigaction(SIGTERM, &action, &oldTerm);
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigemptyset(&ignore.sa_mask);
  sigaction(SIGXFSZ, &ignore, &oldFileSize);
  sigaction(SIGPIPE, &ignore, &oldPipe);
}

SignalScope::~SignalScope() {
  sigaction(SIGINT, &oldInt, nullptr);
  sigaction(SIGTERM, &oldTerm, nullptr);
  sigaction(SIGXFSZ, &oldFileSize, nullptr);
  sigaction(SIGPIPE, &oldPipe, nullptr);
}

int SignalScope::stopSignal() const { return stopRequested; }
