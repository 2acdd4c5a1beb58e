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

//===----------------------------------------------------------------------===//
// Denominator of cross_entropy
//===----------------------------------------------------------------------===//

bool CrossEntropyOp::isCountedMean() {
  return getReduction() == LossReduction::Mean;
}

Value CrossEntropyOp::getCountedTargets() { return getTargets(); }

bool CrossEntropyOp::countsAllClasses() {
  const int64_t classes = getShape(getLogits()).back();
  const int64_t ignored = getIgnoreIndex();
  return !getWeight() && (ignored < 0 || ignored >= classes);
}

static Value makeNumber(OpBuilder &builder, Location loc, Type element,
                        double number) {
  auto type = RankedTensorType::get({}, element);
  return ConstantOp::create(builder, loc,
                            cast<ElementsAttr>(DenseElementsAttr::get(
                                type, builder.getFloatAttr(element, number))));
}

/// The targets as one dimension, in a type that holds the ignore index.
static Value flattenTargets(OpBuilder &builder, CrossEntropyOp op) {
  Value targets = op.getTargets();
  RankedTensorType type = tensorType(targets);
  const int64_t ignored = op.getIgnoreIndex();
  if (!llvm::isInt<32>(ignored) && !type.getElementType().isInteger(64)) {
    type = RankedTensorType::get(type.getShape(), builder.getI64Type());
    targets = CastOp::create(builder, op.getLoc(), type, targets);
  }
  if (type.getRank() == 1)
    return targets;
  auto flat =
      RankedTensorType::get({type.getNumElements()}, type.getElementType());
  return ReshapeOp::create(builder, op.getLoc(), flat, targets);
}

/// The class weight of each target, 0 for a target that is no class.
static Value lookUpWeights(OpBuilder &builder, CrossEntropyOp op, Value targets,
                           Value zero) {
  Location loc = op.getLoc();
  RankedTensorType type = tensorType(targets);
  const int64_t rows = type.getNumElements();
  const int64_t classes = getShape(op.getLogits()).back();
  Value column = ReshapeOp::create(
      builder, loc, RankedTensorType::get({rows, 1}, type.getElementType()),
      targets);
  auto square = RankedTensorType::get({rows, classes}, type.getElementType());
  Value numbers =
      IotaOp::create(builder, loc, square, builder.getDenseI64ArrayAttr({1}));
  Value hits = CompareOp::create(builder, loc, Predicate::EQ, numbers, column);
  Value hit = SelectOp::create(builder, loc, hits, op.getWeight(), zero);
  return ReduceOp::create(builder, loc, ReduceKind::Sum, hit, {1});
}

Value CrossEntropyOp::buildDenominator(OpBuilder &builder) {
  Location loc = getLoc();
  Value targets = flattenTargets(builder, *this);
  Type integer = tensorType(targets).getElementType();
  Value ignored = ConstantOp::create(
      builder, loc,
      cast<ElementsAttr>(DenseElementsAttr::get(
          RankedTensorType::get({}, integer),
          builder.getIntegerAttr(integer,
                                 static_cast<int64_t>(getIgnoreIndex())))));
  Value counted =
      CompareOp::create(builder, loc, Predicate::NE, targets, ignored);
  Type element = tensorType(getLoss()).getElementType();
  Value zero = makeNumber(builder, loc, element, 0);
  Value weights = getWeight() ? lookUpWeights(builder, *this, targets, zero)
                              : makeNumber(builder, loc, element, 1);
  Value count = SelectOp::create(builder, loc, counted, weights, zero);
  return ReduceOp::create(builder, loc, ReduceKind::Sum, count, {0});
}

void CrossEntropyOp::divideBy(OpBuilder &builder, Value denominator) {
  if (!getDenom().use_empty()) {
    builder.setInsertionPoint(*this);
    getDenom().replaceAllUsesWith(buildDenominator(builder));
  }
  setReduction(LossReduction::Sum);
  builder.setInsertionPointAfter(*this);
  auto mean = DivOp::create(builder, getLoc(), getLoss(), denominator);
  copyScope(*this, mean);
  getLoss().replaceAllUsesExcept(mean, mean);
}

//===----------------------------------------------------------------------===//
// Losses of pairs
//===----------------------------------------------------------------------===//

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
