//===- Replicas.h - Comparison of replicas across ranks ---------*- C++ -*-===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_REPLICAS_H
#define WEFT_RUNTIME_CHECKPOINTS_REPLICAS_H

#include "weft/Runtime/Collectives/Consensus.h"
#include "weft/Runtime/Execute/Context.h"

namespace weft {

/// The tensors of a rank, without gradients, and how many of them have
/// replicas. compareReplicas() can find a difference only in replicas.
struct ReplicaCount {
  int64_t all = 0;     // tensors
  int64_t shared = 0;  // tensors or slices that other ranks hold, too
  int64_t weights = 0; // the parameters among the shared tensors
  int64_t bytes = 0;   // of the shared tensors on a rank
};
ReplicaCount countReplicas(const WeftExecutable &executable, int64_t ranks,
                           int64_t rank);

/// Compares digests of replicas after `step`, without gradients. A whole tensor
/// is compared on all ranks, a slice on the ranks that hold it. All ranks call
/// it and get the same result: exit 7 with the name of the first tensor that
/// differs.
Status compareReplicas(const WeftContext &context, Consensus &consensus,
                       int64_t step);

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_REPLICAS_H
