//===- ClusterMerges.cpp - Kernels that move up to a kernel they read -----===//
//
// No op behind a routine that reads a result of a kernel joins the kernel, even
// if it does not depend on the routine. In the backward pass of a gated MLP,
// the products of one factor's gradient stand between the gradient of the
// activation and the derivative of the activation.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"

#include <functional>

using namespace mlir;
using namespace weft;

static int64_t countBytes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * static_cast<int64_t>(llvm::divideCeil(
                                     type.getElementTypeBitWidth(), 8));
}

static int64_t countResultBytes(const Cluster &cluster) {
  int64_t bytes = 0;
  for (Value result : findResults(cluster.ops, cluster.set, cluster.space))
    bytes += countBytes(result);
  return bytes;
}

/// The last op that runs with `op`.
Operation *ClusterBuilder::findEnd(Operation *op) const {
  Cluster *own = owner.lookup(op);
  return own ? own->ops.back() : op;
}

/// Whether everything that `later` reads is computed before the end of
/// `earlier`.
bool ClusterBuilder::mayMoveUp(const Cluster &later,
                               const Cluster &earlier) const {
  Operation *end = earlier.ops.back();
  auto isComputedBefore = [&](Value value) {
    Operation *definer = value.getDefiningOp();
    return !definer || earlier.contains(definer) || later.contains(definer) ||
           findEnd(definer)->isBeforeInBlock(end);
  };
  return llvm::all_of(later.ops, [&](Operation *op) {
    return mayJoin(op, earlier) &&
           llvm::all_of(op->getOperands(), isComputedBefore);
  });
}

/// The bytes that `later` alone reads behind the end of `earlier`.
int64_t ClusterBuilder::countFreedBytes(const Cluster &later,
                                        const Cluster &earlier) const {
  Operation *end = earlier.ops.back();
  // Of a view, which several kernels may have, its readers count.
  std::function<bool(Operation *)> isReadBefore = [&](Operation *user) {
    if (isViewOp(user))
      return llvm::all_of(user->getUsers(), isReadBefore);
    return earlier.contains(user) || later.contains(user) ||
           findEnd(user)->isBeforeInBlock(end);
  };
  llvm::SmallSetVector<Value, 8> freed;
  for (Operation *op : later.ops)
    for (Value operand : op->getOperands()) {
      Operation *definer = operand.getDefiningOp();
      if (definer && !earlier.contains(definer) && !later.contains(definer) &&
          !isViewOp(definer) && !isa<ConstantOp, IotaOp, ReadOp>(definer) &&
          llvm::all_of(operand.getUsers(), isReadBefore))
        freed.insert(operand);
    }
  int64_t bytes = 0;
  for (Value value : freed)
    bytes += countBytes(value);
  return bytes;
}

/// Moves the ops that are behind `end` to it. The others are views and
/// constants that other ops may read as well. All orders are compared before
/// the first move, since a move makes the block number its ops again.
void ClusterBuilder::moveBehind(Operation *end, ArrayRef<Operation *> ops) {
  SmallVector<Operation *> moved;
  llvm::copy_if(ops, std::back_inserter(moved),
                [&](Operation *op) { return end->isBeforeInBlock(op); });
  const unsigned workBefore = places.lookup(end).workBefore;
  for (Operation *op : moved) {
    op->moveAfter(end);
    places[op].workBefore = workBefore;
    end = op;
  }
}

/// Moves the ops of `later` to the end of `earlier` if one loop nest computes
/// both and no more bytes are in use behind it: the results of `later` take the
/// place of values that nothing but `later` reads. An elementwise kernel may
/// become part of one that reduces its rows, which are at hand there.
bool ClusterBuilder::moveUp(Cluster &later, Cluster &earlier) {
  const int64_t points = earlier.space.getNumPoints();
  if ((earlier.space.hasReduction() && !earlier.space.reducesLast()) ||
      later.space.hasReduction() || later.space.getNumPoints() != points ||
      !isNear(later.ops.back(), earlier) || !mayMoveUp(later, earlier))
    return false;
  SmallVector<Operation *> ops(earlier.ops);
  llvm::copy_if(later.ops, std::back_inserter(ops),
                [&](Operation *op) { return !earlier.contains(op); });
  llvm::sort(ops,
             [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  Cluster merged(limits.sumsInRows);
  for (Operation *op : ops) {
    if (!merged.space.add(op))
      return false;
    merged.add(op);
  }
  if (merged.space.getNumPoints() != points || !merged.space.keepsOrder() ||
      isNarrow(merged.space) || merged.ops.size() > limits.maxOps ||
      hasMoreBuffers(merged.space, limits.maxBuffers) ||
      countResultBytes(merged) >
          countResultBytes(earlier) + countFreedBytes(later, earlier))
    return false;
  moveBehind(earlier.ops.back(), ops);
  for (Operation *op : later.ops)
    apart.erase(op);
  earlier = std::move(merged);
  empty(later, earlier);
  return true;
}

void ClusterBuilder::mergeApart() {
  for (const std::unique_ptr<Cluster> &later : clusters) {
    llvm::SmallSetVector<Cluster *, 4> producers;
    for (Operation *op : later->ops)
      for (Value operand : op->getOperands())
        if (Cluster *producer = clusterOf(operand);
            producer && !later->contains(operand.getDefiningOp()))
          producers.insert(producer);
    bool isMoved = llvm::any_of(producers, [&](Cluster *producer) {
      return moveUp(*later, *producer);
    });
    numMerged += isMoved;
  }
}
