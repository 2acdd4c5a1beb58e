//===- MeasuredTrace.h - What the trace of a run says -----------*- C++ -*-===//
//
// A run with --trace writes when each command of its plan began and how long it
// took (docs/running.md). With what the commands cost by the plan these
// are samples for a cost table.
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

/// What the steps of a run took, in microseconds.
struct MeasuredTimes {
  /// Each command that ran, with the mean of its times. The first two do not
  /// count if there are more.
  std::vector<CostSample> samples;
  /// For which the stream that computes ran no command, between two of them,
  /// for each that it recorded; in all steps.
  double handOverUs = 0;
  /// For which that stream waited for collectives in a step.
  double exposedUs = 0;
};

/// Reads the trace of a run with one micro-step in a step. `costs` are those of
/// its plan (describeCosts). What the trace says of plans, and of other
/// processes than that of rank 0, is passed over. Exit 3 if the file is no
/// trace, not whole, or names a command that the plan does not have.
Expected<MeasuredTimes>
readMeasuredTrace(const std::string &path,
                  const std::map<std::string, std::vector<CostSample>> &costs);

} // namespace weft

#endif // WEFT_PIPELINE_SIMULATE_MEASUREDTRACE_H
