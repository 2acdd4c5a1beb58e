//===- LossDenominators.h - Means over the targets of all ranks -*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_LOSSDENOMINATORS_H
#define WEFT_LIB_SHARDING_LOSSDENOMINATORS_H

#include "MeshCollectives.h"

#include "weft/Weft/Weft.h"

namespace weft {

/// Declares `@denominators_keep`, a copy of `denominators` for micro-batches
/// but the last one of a step, which joins no counts.
void keepDenominators(ProgramOp denominators);

/// Replaces the totals that `denominators` has accumulated by their mean over
/// ranks, in one message. Returns how many there are.
unsigned joinDenominators(ProgramOp denominators, const MeshCollectives &mesh);

} // namespace weft

#endif // WEFT_LIB_SHARDING_LOSSDENOMINATORS_H
