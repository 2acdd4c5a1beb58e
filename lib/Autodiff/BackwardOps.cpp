//===- BackwardOps.cpp - The ops that autodiff builds ---------------------===//

#include "BackwardOps.h"

#include "weft/Autodiff/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace weft;

void BackwardOps::follow(Location newLoc, StringRef newScope) {
  loc = FusedLoc::get(newLoc.getContext(), {newLoc},
                      StringAttr::get(newLoc.getContext(), kBackwardTag));
  scope = newScope.empty() ? StringAttr()
                           : StringAttr::get(newLoc.getContext(), newScope);
}

void BackwardOps::follow(Operation *op) {
  loc = op->getLoc();
  scope = getScopeAttr(op);
}

void BackwardOps::notifyOperationInserted(Operation *op,
                                          OpBuilder::InsertPoint) {
  op->setLoc(*loc);
  if (scope)
    setScope(op, scope);
  ops.insert(op);
}

void BackwardOps::eraseDead() {
  DenseSet<Operation *> dead;
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op)) {
      dead.insert(op);
      op->erase();
    }
  ops.remove_if([&](Operation *op) { return dead.contains(op); });
}
