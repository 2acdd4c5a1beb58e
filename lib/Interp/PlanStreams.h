//===- PlanStreams.h - Orders that the events of a plan allow ---*- C++ -*-===//

#ifndef WEFT_LIB_INTERP_PLANSTREAMS_H
#define WEFT_LIB_INTERP_PLANSTREAMS_H

#include "weft/Plan/Transfers.h"

namespace weft {

/// The commands of a program in one of the orders in which its streams may run
/// them, by a seed; 0: as they stand.
std::vector<plan::CommandOpInterface> orderCommands(plan::ProgramOp program,
                                                    uint64_t seed);

} // namespace weft

#endif // WEFT_LIB_INTERP_PLANSTREAMS_H
