//===- Activity.cpp - Values that need a gradient -------------------------===//

#include "Activity.h"

using namespace mlir;

llvm::DenseSet<Value>
weft::findActive(ProgramOp program,
                 llvm::function_ref<bool(StringAttr)> isTrained) {
  DenseSet<Value> active;
  for (Operation &op : program.getBody().front().without_terminator()) {
    auto read = dyn_cast<ReadOp>(op);
    bool reached = read ? isTrained(read.getSourceAttr().getAttr())
                        : llvm::any_of(op.getOperands(), [&](Value operand) {
                            return active.contains(operand);
                          });
    if (!reached)
      continue;
    for (Value result : op.getResults())
      if (isa<FloatType>(
              cast<RankedTensorType>(result.getType()).getElementType()))
        active.insert(result);
  }
  return active;
}
