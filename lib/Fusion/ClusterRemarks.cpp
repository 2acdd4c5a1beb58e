//===- ClusterRemarks.cpp - Remarks on ops that are not fused -------------===//

#include "Fusion.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace weft;

/// A remark on an op, with its module path: many ops of a model may stand at
/// one place of a configuration.
static void remarkApart(Operation *op, const Twine &reason) {
  StringRef scope = getScope(op);
  remark::missed(op->getLoc(),
                 remark::RemarkOpts::name("apart").category("fusion"))
      << (op->getName().stripDialect() + (scope.empty() ? "" : " of ") + scope +
          " is not fused with the kernel of its operand: " + reason)
             .str();
}

void ClusterBuilder::reportApart() const {
  for (auto &[op, reason] : apart)
    remarkApart(op, reason);
}

/// Records why `op` is not in the kernel of its first operand that has one.
void ClusterBuilder::explainApart(Operation *op) {
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
      apart[op] = reason;
    return;
  }
}

/// Records which limit, if any, keeps `op` out of the kernels of its operands.
bool ClusterBuilder::reportMissed(Operation *op,
                                  ArrayRef<Cluster *> producers) {
  for (Cluster *producer : producers) {
    KernelSpace space = producer->space;
    if (!space.tryAdd(op))
      continue;
    bool full = producer->ops.size() >= limits.maxOps;
    if (!full && !hasMoreBuffers(space, limits.maxBuffers))
      continue;
    ++numMissed;
    apart[op] =
        ("that has " + Twine(producer->ops.size()) + " ops and " +
         Twine(countBuffers(producer->space)) + " buffers, the limits are " +
         Twine(limits.maxOps) + " and " + Twine(limits.maxBuffers))
            .str();
    return true;
  }
  return false;
}
