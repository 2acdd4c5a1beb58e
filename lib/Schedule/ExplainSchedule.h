//===- ExplainSchedule.h - Where collectives begin and end ------*- C++ -*-===//
//
// Private to lib/Schedule.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_SCHEDULE_EXPLAINSCHEDULE_H
#define WEFT_LIB_SCHEDULE_EXPLAINSCHEDULE_H

#include "weft/Plan/Plan.h"

namespace weft {

/// A remark at each collective with a stream of its own: how many commands of
/// stream 0 run until it waits for the result.
void explainSchedule(plan::ProgramOp program);

} // namespace weft

#endif // WEFT_LIB_SCHEDULE_EXPLAINSCHEDULE_H
