//===- TrainingOps.cpp - Gradient and optimizer ops -----------------------===//

#include "Parsing.h"
#include "weft/Weft/ScalerNumbers.h"

using namespace mlir;
using namespace weft;

LogicalResult NormAndCheckOp::verify() {
  double p = getP().convertToDouble();
  if (p == 1.0 || p == 2.0 || p == 3.0 || (std::isinf(p) && p > 0))
    return success();
  return emitOpError("expects p of 1, 2, 3 or inf, but got ") << p;
}

LogicalResult TotalNormOp::verify() {
  if (getNorms().empty() || getNorms().size() != getSkips().size())
    return emitOpError("expects one skip for each norm, but got ")
           << getSkips().size() << " for " << getNorms().size();
  double p = getP().convertToDouble();
  if (p > 0)
    return success();
  return emitOpError("expects a positive p, but got ") << p;
}

LogicalResult ScalerUpdateOp::verify() {
  ScalerNumbers numbers;
  numbers.policy = getPolicy();
  numbers.growth = getGrowth().convertToDouble();
  numbers.backoff = getBackoff().convertToDouble();
  numbers.interval = getInterval();
  numbers.hysteresis = getHysteresis();
  numbers.minimum = getMinimum().convertToDouble();
  numbers.consecutive = getConsecutive();
  numbers.init = std::max(numbers.minimum, 1.0);
  if (std::optional<ScalerProblem> problem = findProblem(numbers))
    return emitOpError("expects ") << problem->name << " " << problem->rule
                                   << ", but got " << problem->value;
  return success();
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
  if (op->getNumResults() == numStates + 1)
    return success();
  auto working = cast<RankedTensorType>(op->getResult(numStates + 1).getType());
  if (working.getShape() != param.getShape())
    return op->emitOpError("expects a working copy of the shape of ")
           << param << ", but got " << working;
  return success();
}

LogicalResult AdamWOp::verify() { return verifyUpdate(*this, /*numStates=*/2); }
LogicalResult AdamOp::verify() { return verifyUpdate(*this, /*numStates=*/2); }
LogicalResult SgdOp::verify() { return verifyUpdate(*this, /*numStates=*/1); }

//===----------------------------------------------------------------------===//
// UpdateOpInterface
//===----------------------------------------------------------------------===//

static Value addCopy(Operation *op, OpBuilder &builder, Type element) {
  SmallVector<Type> types(op->getResultTypes());
  types.push_back(
      cast<RankedTensorType>(op->getOperand(0).getType()).clone(element));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  OperationState state(op->getLoc(), op->getName().getStringRef(),
                       op->getOperands(), types, op->getAttrs());
  Operation *updated = builder.create(state);
  op->replaceAllUsesWith(updated->getResults().drop_back());
  op->erase();
  return updated->getResults().back();
}

Value AdamWOp::addWorkingCopy(OpBuilder &builder, Type element) {
  return addCopy(*this, builder, element);
}
Value AdamOp::addWorkingCopy(OpBuilder &builder, Type element) {
  return addCopy(*this, builder, element);
}
Value SgdOp::addWorkingCopy(OpBuilder &builder, Type element) {
  return addCopy(*this, builder, element);
}
