//===- MeasuredTrace.h - Command times from the trace of a run --*- C++ -*-===//
//
// A run with --trace records the start and the duration of each command of its
// plan (docs/how-to/profile.md). Together with the costs of the commands in the
// plan, these times are the samples for a cost table.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PIPELINE_SIMULATE_MEASUREDTRACE_H
#define WEFT_PIPELINE_SIMULATE_MEASUREDTRACE_H

#include "weft/Base/Error.h"
#include "weft/Schedule/CostFit.h"

#include <map>
#include <string>
#include <vector>

namespace weft {

/// The times of a command that count.
enum class MeasuredClock {
  /// Their mean by the clock of the machine.
  Mean,
  /// The least processor time of the rank's thread, in which other programs of
  /// the machine have no part. Only for one thread.
  LeastOfThread,
};

/// Measured times of the steps of a run, in microseconds.
struct MeasuredTimes {
  /// Each command that ran, with one time. The first two times are left out if
  /// there are more.
  std::vector<CostSample> samples;
  /// Idle time of the compute stream between commands, over all steps, divided
  /// by the number of its `record` commands.
  double handOverUs = 0;
  /// Time per step in which the compute stream waits for collectives.
  double exposedUs = 0;
};

/// Reads the trace of a run with one micro-step per step. `costs` is the result
/// of describeCosts() for its plan. Planned slices and processes other than
/// rank 0 are ignored. Exit 3 if the file is not a trace, is not whole, or
/// names a command that the plan does not have.
Expected<MeasuredTimes>
readMeasuredTrace(const std::string &path,
                  const std::map<std::string, std::vector<CostSample>> &costs,
                  MeasuredClock clock = MeasuredClock::Mean);

} // namespace weft

#endif // WEFT_PIPELINE_SIMULATE_MEASUREDTRACE_H
