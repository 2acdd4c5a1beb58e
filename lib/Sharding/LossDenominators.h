//===- LossDenominators.h - Means over the targets of all ranks -*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_LOSSDENOMINATORS_H
#define WEFT_LIB_SHARDING_LOSSDENOMINATORS_H

#include "MeshCollectives.h"

#include "weft/Weft/Weft.h"

namespace weft {

/// Losses of micro-steps that are means over targets that may be ignored, or
/// that have weights: ranks add up what they divide by, so that the mean over
/// ranks is that over all of their targets. Returns how many there are.
unsigned joinDenominators(ProgramOp micro, const MeshCollectives &mesh);

} // namespace weft

#endif // WEFT_LIB_SHARDING_LOSSDENOMINATORS_H
