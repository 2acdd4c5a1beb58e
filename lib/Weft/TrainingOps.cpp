//===- TrainingOps.cpp - Gradient and optimizer ops -----------------------===//

#include "Parsing.h"

using namespace mlir;
using namespace weft;

LogicalResult NormAndCheckOp::verify() {
  double p = getP().convertToDouble();
  if (p == 1.0 || p == 2.0 || p == 3.0 || (std::isinf(p) && p > 0))
    return success();
  return emitOpError("expects p of 1, 2, 3 or inf, but got ") << p;
}

/// Every tensor of an update has the shape of the parameter, and each new
/// value the type of the old one.
static LogicalResult verifyUpdate(Operation *op, unsigned numStates) {
  auto param = cast<RankedTensorType>(op->getOperand(0).getType());
  for (unsigned i = 1; i < numStates + 2; ++i) {
    auto type = cast<RankedTensorType>(op->getOperand(i).getType());
    if (type.getShape() != param.getShape())
      return op->emitOpError("expects state and gradient of the shape of ")
             << param << ", but got " << type;
  }
  for (unsigned i = 0; i <= numStates; ++i)
    if (op->getResult(i).getType() != op->getOperand(i).getType())
      return op->emitOpError("expects result ")
             << i << " of type " << op->getOperand(i).getType() << ", but got "
             << op->getResult(i).getType();
  return success();
}

LogicalResult AdamWOp::verify() { return verifyUpdate(*this, /*numStates=*/2); }
LogicalResult AdamOp::verify() { return verifyUpdate(*this, /*numStates=*/2); }
LogicalResult SgdOp::verify() { return verifyUpdate(*this, /*numStates=*/1); }
