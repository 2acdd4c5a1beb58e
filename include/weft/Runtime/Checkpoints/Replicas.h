//===- Replicas.h - What several ranks hold is the same ---------*- C++ -*-===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_REPLICAS_H
#define WEFT_RUNTIME_CHECKPOINTS_REPLICAS_H

#include "weft/Runtime/Collectives/Agree.h"
#include "weft/Runtime/Execute/Context.h"

namespace weft {

/// Compares digests of what ranks hold alike after `step`, all but gradients:
/// of a whole tensor all ranks, of slices those that hold the same one. All
/// ranks take part and end alike, with exit 7 and the name of the first tensor
/// that differs.
Status compareReplicas(const WeftContext &context, Agreement &agreement,
                       int64_t step);

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_REPLICAS_H
