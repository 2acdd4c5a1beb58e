//===- Optimizer.cpp - Shared rules of optimizer ops ----------------------===//

#include "weft/Interfaces/Interfaces.h"
#include "weft/Interfaces/NumberRules.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace weft;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

SmallVector<UpdateFactors> weft::getUpdateFactors(OptimizerOpInterface op) {
  SmallVector<UpdateFactors> ranges = op.getFactorList();
  if (ranges.empty())
    ranges.push_back({/*begin=*/0, op.getLrScale().convertToDouble(),
                      op.getDecayScale().convertToDouble()});
  return ranges;
}

/// Ranges stand in order, the first at element 0, with no factor beside them;
/// neighbours may be equal.
static LogicalResult verifyRanges(OptimizerOpInterface op) {
  if (!op->hasAttr("factors"))
    return success();
  SmallVector<UpdateFactors> ranges = op.getFactorList();
  if (ranges.empty())
    return op->emitOpError("expects at least one range of factors, but got []");
  if (typeOf(op.getParam()).getRank() != 1)
    return op->emitOpError("expects one dimension where factors go by range, "
                           "but got ")
           << op.getParam().getType();
  for (auto [name, scale] : {std::pair("lr_scale", op.getLrScale()),
                             std::pair("decay_scale", op.getDecayScale())})
    if (scale.convertToDouble() != 1.0)
      return op->emitOpError("expects no ")
             << name << " with factors by range, but got "
             << scale.convertToDouble();
  if (ranges.front().begin != 0)
    return op->emitOpError(
               "expects the first factors to begin at element 0, but got ")
           << ranges.front().begin;
  for (auto [before, range] : llvm::zip(ranges, ArrayRef(ranges).drop_front()))
    if (range.begin <= before.begin)
      return op->emitOpError("expects factors to begin after element ")
             << before.begin << ", but got " << range.begin;
  return success();
}

LogicalResult weft::detail::verifyOptimizer(Operation *op) {
  auto update = cast<OptimizerOpInterface>(op);
  auto param = typeOf(update.getParam());
  SmallVector<Value> tensors(update.getStates());
  tensors.push_back(update.getGrad());
  for (Value tensor : tensors)
    if (typeOf(tensor).getShape() != param.getShape())
      return op->emitOpError("expects state and gradient of the shape of ")
             << param << ", but got " << tensor.getType();
  for (unsigned i = 0; i <= update.getStates().size(); ++i)
    if (op->getResult(i).getType() != op->getOperand(i).getType())
      return op->emitOpError("expects result ")
             << i << " of type " << op->getOperand(i).getType() << ", but got "
             << op->getResult(i).getType();
  auto emit = [&] { return op->emitOpError(); };
  if (failed(verifyFinite(emit, "lr_scale",
                          update.getLrScale().convertToDouble())) ||
      failed(verifyFinite(emit, "decay_scale",
                          update.getDecayScale().convertToDouble())))
    return failure();
  if (failed(verifyRanges(update)))
    return failure();
  Value working = update.getWorking();
  if (working && typeOf(working).getShape() != param.getShape())
    return op->emitOpError("expects a working copy of the shape of ")
           << param << ", but got " << working.getType();
  return success();
}

Value weft::detail::addWorkingCopy(Operation *op, OpBuilder &builder,
                                   Type element) {
  auto param = typeOf(cast<OptimizerOpInterface>(op).getParam());
  SmallVector<Type> types(op->getResultTypes());
  types.push_back(param.clone(element));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  OperationState state(op->getLoc(), op->getName().getStringRef(),
                       op->getOperands(), types, op->getAttrs());
  Operation *updated = builder.create(state);
  op->replaceAllUsesWith(updated->getResults().drop_back());
  op->erase();
  return updated->getResults().back();
}
