//===- ClusterRemarks.cpp - Why ops are no kernel together ----------------===//

#include "Fusion.h"

using namespace mlir;

namespace weft {

/// Begins the remark on an op, with its module path: many ops of a model may
/// stand at one place of a configuration.
static InFlightDiagnostic remarkApart(Operation *op) {
  InFlightDiagnostic remark = op->emitRemark();
  remark << op->getName().stripDialect();
  if (StringRef scope = getScope(op); !scope.empty())
    remark << " of " << scope;
  remark << " is not fused with the kernel of its operand: ";
  return remark;
}

/// Says why `op` is not in the kernel of its first operand that has one.
void ClusterBuilder::reportApart(Operation *op) const {
  for (Value operand : op->getOperands()) {
    Cluster *cluster = clusterOf(operand);
    if (!cluster)
      continue;
    KernelSpace space = cluster->space;
    const char *reason =
        !cluster->open ? "an op in between uses a result of that kernel"
        : !space.tryAdd(op)
            ? "one loop nest cannot compute both"
            : refuse(op, *cluster, space, cluster->space.getNumPoints(),
                     cluster->space.hasReduction());
    if (reason)
      remarkApart(op) << reason;
    return;
  }
}

/// Says which limit, if any, keeps `op` out of the kernels of its operands.
bool ClusterBuilder::reportMissed(Operation *op,
                                  llvm::ArrayRef<Cluster *> producers) {
  for (Cluster *producer : producers) {
    KernelSpace space = producer->space;
    if (!space.tryAdd(op))
      continue;
    bool full = producer->ops.size() >= limits.maxOps;
    if (!full && !hasMoreBuffers(space, limits.maxBuffers))
      continue;
    ++numMissed;
    if (limits.explain)
      remarkApart(op) << "that has " << producer->ops.size() << " ops and "
                      << countBuffers(producer->space)
                      << " buffers, the limits are " << limits.maxOps << " and "
                      << limits.maxBuffers;
    return true;
  }
  return false;
}

} // namespace weft
