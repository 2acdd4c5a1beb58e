//===- RankReports.h - One report of a step from all ranks ------*- C++ -*-===//

#ifndef WEFT_RUNTIME_RUN_RANKREPORTS_H
#define WEFT_RUNTIME_RUN_RANKREPORTS_H

#include "weft/Base/Error.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Reports/Progress.h"

namespace weft {

/// Makes the report of a step on this rank, whose `ranks` says what its
/// collectives have cost, that of all: losses are means, times of the parts of
/// a step too, step time and memory are the largest. All ranks call it.
Status joinReports(WeftContext &context, StepReport &report);

} // namespace weft

#endif // WEFT_RUNTIME_RUN_RANKREPORTS_H
