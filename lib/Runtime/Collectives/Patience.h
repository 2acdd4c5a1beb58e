//===- Patience.h - How long a rank waits without progress ------*- C++ -*-===//

#ifndef WEFT_LIB_RUNTIME_COLLECTIVES_PATIENCE_H
#define WEFT_LIB_RUNTIME_COLLECTIVES_PATIENCE_H

#include <algorithm>
#include <chrono>

namespace weft {

/// Counts the time that passes without progress, in slices: of a time in which
/// this process was stopped, and its peers with it, one slice counts.
class Patience {
public:
  using Clock = std::chrono::steady_clock;

  explicit Patience(double seconds)
      : most(seconds), slice(std::min(seconds / 4, 1.0)), last(Clock::now()) {}

  /// The longest to wait before isOver() is asked again.
  std::chrono::duration<double> longestWait() const {
    return std::chrono::duration<double>(slice);
  }
  /// There was progress.
  void restart() {
    waited = 0;
    last = Clock::now();
  }
  bool isOver() {
    const Clock::time_point now = Clock::now();
    waited +=
        std::min(std::chrono::duration<double>(now - last).count(), slice);
    last = now;
    return waited >= most;
  }

private:
  double most, slice, waited = 0;
  Clock::time_point last;
};

} // namespace weft

#endif // WEFT_LIB_RUNTIME_COLLECTIVES_PATIENCE_H
