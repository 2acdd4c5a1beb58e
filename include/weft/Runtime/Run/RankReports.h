//===- RankReports.h - One report of a step from all ranks ------*- C++ -*-===//

#ifndef WEFT_RUNTIME_RUN_RANKREPORTS_H
#define WEFT_RUNTIME_RUN_RANKREPORTS_H

#include "weft/Base/Error.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Reports/Progress.h"

namespace weft {

/// Merges the reports of a step of all ranks into `report`, whose `ranks` has
/// the collectives' costs of this rank. Losses and the times of the parts of a
/// step become means; step time, sent bytes and memory become maxima. All ranks
/// call it.
Status joinReports(WeftContext &context, StepReport &report);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_RANKREPORTS_H
