//===- Patience.h - How long a rank waits without progress ------*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_PATIENCE_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_PATIENCE_H

#include <algorithm>
#include <chrono>
#include <vector>

namespace weft {

/// Counts the time that passes without progress, in slices: of a time in which
/// this process was stopped, and its peers with it, one slice counts. A peer
/// that sends a heartbeat is waited for from then on.
class Patience {
public:
  using Clock = std::chrono::steady_clock;

  Patience(double seconds, int peers)
      : most(seconds), slice(std::min(seconds / 4, 1.0)), last(Clock::now()),
        heardAt(size_t(peers)) {}

  /// The longest to wait before pass() is called again.
  std::chrono::duration<double> longestWait() const {
    return std::chrono::duration<double>(slice);
  }
  /// There was progress.
  void restart() {
    waited = lookedAt = 0;
    std::fill(heardAt.begin(), heardAt.end(), 0);
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
  void heard(int peer) { heardAt[size_t(peer)] = waited; }
  bool isOver(int peer) const { return waited - heardAt[size_t(peer)] >= most; }

private:
  double most, slice, waited = 0, lookedAt = 0;
  Clock::time_point last;
  std::vector<double> heardAt; // of `waited`, by peer
};

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_PATIENCE_H
