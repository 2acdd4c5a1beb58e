//===- TraceTime.h - Times of trace events ----------------------*- C++ -*-===//

#ifndef WEFT_FORMATS_TRACETIME_H
#define WEFT_FORMATS_TRACETIME_H

#include <cmath>
#include <cstdint>
#include <limits>

namespace weft {

/// The `ts` or `dur` of a Chrome trace event, in microseconds, for a time of
/// `ns` nanoseconds. Perfetto multiplies by 1000 and cuts, which makes 1000 ns
/// of 1.001 us. So the number is the nearest one that gives `ns` back by
/// cutting as well as by rounding.
inline double traceMicros(int64_t ns) {
  const double us = static_cast<double>(ns) / 1e3;
  if (static_cast<int64_t>(us * 1e3) == ns)
    return us;
  return std::nextafter(us, std::numeric_limits<double>::infinity());
}

/// Nanoseconds of a time in microseconds. Durations are differences of such
/// numbers: rounded by itself, a slice may end behind the begin of the next.
inline int64_t traceNanos(double us) { return std::llround(us * 1e3); }

} // namespace weft

#endif // WEFT_FORMATS_TRACETIME_H
