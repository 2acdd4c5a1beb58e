//===- Replicas.h - What several ranks hold is the same ---------*- C++ -*-===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_REPLICAS_H
#define WEFT_RUNTIME_CHECKPOINTS_REPLICAS_H

#include "weft/Runtime/Collectives/Consensus.h"
#include "weft/Runtime/Execute/Context.h"

namespace weft {

/// How much of what a rank holds, but for gradients, others hold too: only
/// there can compareReplicas() find a difference.
struct ReplicaCount {
  int64_t all = 0;    // tensors
  int64_t shared = 0; // those that other ranks hold, or the same slices of them
  int64_t weights = 0; // the parameters among these
  int64_t bytes = 0;   // of the shared ones on a rank
};
ReplicaCount countReplicas(const WeftExecutable &executable, int64_t ranks,
                           int64_t rank);

/// Compares digests of what ranks hold alike after `step`, all but gradients:
/// of a whole tensor all ranks, of slices those that hold the same one. All
/// ranks take part and end alike, with exit 7 and the name of the first tensor
/// that differs.
Status compareReplicas(const WeftContext &context, Consensus &consensus,
                       int64_t step);

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_REPLICAS_H
