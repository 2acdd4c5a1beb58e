//===- LossOps.cpp - Losses and their adjoints ----------------------------===//

#include "Parsing.h"

using namespace mlir;
using namespace weft;

LogicalResult CrossEntropyOp::inferTypes(std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  RankedTensorType logits = tensorType(adaptor.getLogits());
  if (logits.getRank() < 1)
    return emitOptionalError(loc, "expects logits of rank 1 or more, but got ",
                             logits);
  RankedTensorType lse = rowStatistics(logits);
  auto scalar = RankedTensorType::get({}, lse.getElementType());
  results.assign({scalar, lse, scalar});
  return success();
}

/// Operands and numbers that the loss and its adjoint share.
template <typename OpT> static LogicalResult verifyCrossEntropy(OpT op) {
  RankedTensorType logits = tensorType(op.getLogits());
  RankedTensorType targets = tensorType(op.getTargets());
  if (logits.getRank() < 1)
    return op.emitOpError("expects logits of rank 1 or more, but got ")
           << logits;
  if (logits.getShape().drop_back() != targets.getShape())
    return op.emitOpError("expects one target for each row of ")
           << logits << ", but got " << targets;
  auto weight =
      RankedTensorType::get(logits.getShape().take_back(),
                            statisticsElement(logits.getElementType()));
  if (op.getWeight() && op.getWeight().getType() != weight)
    return op.emitOpError("expects one weight for each class, ")
           << weight << ", but got " << op.getWeight().getType();
  double smoothing = op.getLabelSmoothing().convertToDouble();
  if (!(smoothing >= 0.0 && smoothing <= 1.0))
    return op.emitOpError("expects label_smoothing in [0, 1], but got ")
           << smoothing;
  return success();
}

LogicalResult CrossEntropyOp::verify() { return verifyCrossEntropy(*this); }

LogicalResult CrossEntropyGradOp::verify() {
  if (failed(verifyCrossEntropy(*this)))
    return failure();
  RankedTensorType lse = rowStatistics(tensorType(getLogits()));
  if (getLse().getType() != lse)
    return emitOpError("expects lse of type ")
           << lse << ", but got " << getLse().getType();
  auto scalar = RankedTensorType::get({}, lse.getElementType());
  for (Value number : {getGrad(), getDenom()})
    if (number.getType() != scalar)
      return emitOpError("expects grad and denom of type ")
             << scalar << ", but got " << number.getType();
  return success();
}

/// A scalar of the type of statistics.
static RankedTensorType pairLossType(Value operand) {
  Type element = tensorType(operand).getElementType();
  return RankedTensorType::get({}, statisticsElement(element));
}

LogicalResult MseOp::inferTypes(std::optional<Location> loc, Adaptor adaptor,
                                SmallVectorImpl<Type> &results) {
  results.push_back(pairLossType(adaptor.getOperands()[0]));
  return success();
}

LogicalResult BceOp::inferTypes(std::optional<Location> loc, Adaptor adaptor,
                                SmallVectorImpl<Type> &results) {
  results.push_back(pairLossType(adaptor.getOperands()[0]));
  return success();
}

LogicalResult BceWithLogitsOp::inferTypes(std::optional<Location> loc,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &results) {
  results.push_back(pairLossType(adaptor.getOperands()[0]));
  return success();
}
