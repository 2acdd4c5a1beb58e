//===- ClusterCopies.cpp - Copies of views for who needs elements ---------===//

#include "Fusion.h"

using namespace mlir;
using namespace weft;

MaterializeOp weft::copyBroadcast(Operation *broadcast, OpBuilder &builder) {
  auto copy = MaterializeOp::create(builder, broadcast->getLoc(),
                                    broadcast->getResult(0));
  copyScope(broadcast, copy);
  return copy;
}

/// A broadcast (or an iota) outside of all kernels is never written. Who needs
/// its elements gets a copy, which the next step gives a kernel.
void ClusterBuilder::materialize(Operation *broadcast) {
  if (owner.lookup(broadcast) ||
      llvm::all_of(broadcast->getUsers(), readsThroughBroadcast))
    return;
  OpBuilder builder(broadcast->getContext());
  builder.setInsertionPointAfter(broadcast);
  MaterializeOp copy = copyBroadcast(broadcast, builder);
  Place place = places.lookup(broadcast);
  places[copy] = {place.order + 1, place.workBefore};
  broadcast->getResult(0).replaceUsesWithIf(copy, [](OpOperand &use) {
    return !readsThroughBroadcast(use.getOwner());
  });
}

/// Sums over a view that cannot be walked row by row would be added up in
/// another order than over memory: they get a copy of the view.
LogicalResult ClusterBuilder::copyOperand(ReduceOp reduce) {
  Cluster alone;
  SmallVector<Operation *> added;
  if (!append(reduce, alone, added) || alone.space.keepsOrder())
    return success();
  OpBuilder builder(reduce);
  auto copy =
      MaterializeOp::create(builder, reduce.getLoc(), reduce.getOperand());
  copyScope(reduce, copy);
  Place place = places.lookup(reduce);
  places[copy] = {place.order - 1, place.workBefore};
  reduce.getOperandMutable().assign(copy);
  return visit(copy);
}
