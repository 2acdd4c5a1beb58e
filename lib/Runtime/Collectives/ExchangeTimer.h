//===- ExchangeTimer.h - Timeouts of an exchange, by peer -------*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_EXCHANGETIMER_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_EXCHANGETIMER_H

#include <algorithm>
#include <chrono>
#include <vector>

namespace weft {

/// Measures the time without progress. It advances by at most one slice a call,
/// so that time in which this process was stopped, and its peers with it,
/// hardly counts. A heartbeat restarts the timeout of its peer.
class ExchangeTimer {
public:
  using Clock = std::chrono::steady_clock;

  ExchangeTimer(double seconds, int peers)
      : most(seconds), slice(std::min(seconds / 4, 1.0)), last(Clock::now()),
        restartedAt(size_t(peers)) {}

  /// The longest to wait before pass() is called again.
  std::chrono::duration<double> longestWait() const {
    return std::chrono::duration<double>(slice);
  }
  /// There was progress.
  void restart() {
    waited = lookedAt = 0;
    std::fill(restartedAt.begin(), restartedAt.end(), 0);
    last = Clock::now();
  }
  /// Takes the time.
  void pass() {
    const Clock::time_point now = Clock::now();
    waited +=
        std::min(std::chrono::duration<double>(now - last).count(), slice);
    last = now;
  }
  /// Whether to look for heartbeats: about once a slice, since it costs.
  bool isLookDue() {
    if (waited - lookedAt < 0.9 * slice)
      return false;
    lookedAt = waited;
    return true;
  }
  void restart(int peer) { restartedAt[size_t(peer)] = waited; }
  bool isTimedOut(int peer) const {
    return waited - restartedAt[size_t(peer)] >= most;
  }

private:
  double most, slice, waited = 0, lookedAt = 0;
  Clock::time_point last;
  std::vector<double> restartedAt; // of `waited`, by peer
};

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_EXCHANGETIMER_H
