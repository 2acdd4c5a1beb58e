//===- RateChecks.h - Schedules that do not fit their run -------*- C++ -*-===//

#ifndef WEFT_RUNTIME_RUN_RATECHECKS_H
#define WEFT_RUNTIME_RUN_RATECHECKS_H

#include "weft/Runtime/Run/RunFlags.h"

namespace weft {

/// Rules between the numbers of a schedule and the steps of a run that trains:
/// exit 2.
Status checkRates(const RunOptions &options);

/// A warning if the schedule ends before the run does, or "".
std::string warnOfEarlyEnd(const RunOptions &options);

/// A warning if the default of --lr-decay-steps, the steps of the training, has
/// moved since `was` and `nextStep` therefore gets another learning rate, or
/// "".
std::string warnOfJump(const RunOptions &options, const RunRecord &was,
                       const RunRecord &now, int64_t nextStep);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_RATECHECKS_H
