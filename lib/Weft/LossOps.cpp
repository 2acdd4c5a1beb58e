//===- LossOps.cpp - Losses, their adjoints and metrics -------------------===//

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

/// Each row of logits has one target.
template <typename OpT> static LogicalResult verifyTargets(OpT op) {
  RankedTensorType logits = tensorType(op.getLogits());
  RankedTensorType targets = tensorType(op.getTargets());
  if (logits.getRank() < 1)
    return op.emitOpError("expects logits of rank 1 or more, but got ")
           << logits;
  if (logits.getShape().drop_back() != targets.getShape())
    return op.emitOpError("expects one target for each row of ")
           << logits << ", but got " << targets;
  return success();
}

/// Operands and numbers that the loss and its adjoint share.
template <typename OpT> static LogicalResult verifyCrossEntropy(OpT op) {
  if (failed(verifyTargets(op)))
    return failure();
  RankedTensorType logits = tensorType(op.getLogits());
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

LogicalResult AccuracyOp::inferTypes(std::optional<Location> loc,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &results) {
  RankedTensorType logits = tensorType(adaptor.getLogits());
  results.push_back(
      RankedTensorType::get({}, statisticsElement(logits.getElementType())));
  return success();
}

LogicalResult AccuracyOp::verify() { return verifyTargets(*this); }

//===----------------------------------------------------------------------===//
// Means over counted targets
//===----------------------------------------------------------------------===//

bool CrossEntropyOp::isCountedMean() {
  return getReduction() == LossReduction::Mean;
}
bool AccuracyOp::isCountedMean() {
  return getReduction() == LossReduction::Mean;
}

Value CrossEntropyOp::getCountedTargets() { return getTargets(); }
Value AccuracyOp::getCountedTargets() { return getTargets(); }

int64_t CrossEntropyOp::getClassCount() { return getShape(getLogits()).back(); }
int64_t AccuracyOp::getClassCount() { return getShape(getLogits()).back(); }

int64_t CrossEntropyOp::getIgnoredTarget() { return getIgnoreIndex(); }
int64_t AccuracyOp::getIgnoredTarget() { return getIgnoreIndex(); }

/// Whether no class is ignored.
template <typename OpT> static bool ignoresNoClass(OpT op) {
  const int64_t ignored = op.getIgnoredTarget();
  return ignored < 0 || ignored >= op.getClassCount();
}

bool CrossEntropyOp::countsAllClasses() {
  return !getWeight() && ignoresNoClass(*this);
}
bool AccuracyOp::countsAllClasses() { return ignoresNoClass(*this); }

static Value makeNumber(OpBuilder &builder, Location loc, Type element,
                        double number) {
  auto type = RankedTensorType::get({}, element);
  return ConstantOp::create(builder, loc,
                            cast<ElementsAttr>(DenseElementsAttr::get(
                                type, builder.getFloatAttr(element, number))));
}

/// The targets as one dimension, in a type that holds the ignore index.
static Value flattenTargets(OpBuilder &builder, CountedMeanOpInterface op) {
  Value targets = op.getCountedTargets();
  RankedTensorType type = tensorType(targets);
  const int64_t ignored = op.getIgnoredTarget();
  if (!llvm::isInt<32>(ignored) && !type.getElementType().isInteger(64)) {
    type = RankedTensorType::get(type.getShape(), builder.getI64Type());
    targets = CastOp::create(builder, op->getLoc(), type, targets);
  }
  if (type.getRank() == 1)
    return targets;
  auto flat =
      RankedTensorType::get({type.getNumElements()}, type.getElementType());
  return ReshapeOp::create(builder, op->getLoc(), flat, targets);
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

/// Which of the flat `targets` count.
static Value findCounted(OpBuilder &builder, CountedMeanOpInterface op,
                         Value targets) {
  Location loc = op->getLoc();
  Type integer = tensorType(targets).getElementType();
  Value ignored = ConstantOp::create(
      builder, loc,
      cast<ElementsAttr>(DenseElementsAttr::get(
          RankedTensorType::get({}, integer),
          builder.getIntegerAttr(integer, op.getIgnoredTarget()))));
  return CompareOp::create(builder, loc, Predicate::NE, targets, ignored);
}

/// The sum of the `weights` of the targets that count; it has one for each
/// target, or one for all.
static Value sumCounted(OpBuilder &builder, Location loc, Value counted,
                        Value weights, Value zero) {
  Value count = SelectOp::create(builder, loc, counted, weights, zero);
  return ReduceOp::create(builder, loc, ReduceKind::Sum, count, {0});
}

Value CrossEntropyOp::buildDenominator(OpBuilder &builder) {
  Value targets = flattenTargets(builder, *this);
  Value counted = findCounted(builder, *this, targets);
  Type element = tensorType(getLoss()).getElementType();
  Value zero = makeNumber(builder, getLoc(), element, 0);
  Value weights = getWeight() ? lookUpWeights(builder, *this, targets, zero)
                              : makeNumber(builder, getLoc(), element, 1);
  return sumCounted(builder, getLoc(), counted, weights, zero);
}

Value AccuracyOp::buildDenominator(OpBuilder &builder) {
  Value targets = flattenTargets(builder, *this);
  Value counted = findCounted(builder, *this, targets);
  Type element = tensorType(getAccuracy()).getElementType();
  Value zero = makeNumber(builder, getLoc(), element, 0);
  Value one = makeNumber(builder, getLoc(), element, 1);
  return sumCounted(builder, getLoc(), counted, one, zero);
}

/// Makes the mean `value` of the op a sum that is divided by `denominator`.
template <typename OpT>
static void divideSum(OpBuilder &builder, OpT op, Value value,
                      Value denominator) {
  op.setReduction(LossReduction::Sum);
  builder.setInsertionPointAfter(op);
  auto mean = DivOp::create(builder, op.getLoc(), value, denominator);
  copyScope(op, mean);
  value.replaceAllUsesExcept(mean, mean);
}

void CrossEntropyOp::divideBy(OpBuilder &builder, Value denominator) {
  if (!getDenom().use_empty()) {
    builder.setInsertionPoint(*this);
    getDenom().replaceAllUsesWith(buildDenominator(builder));
  }
  divideSum(builder, *this, getLoss(), denominator);
}

void AccuracyOp::divideBy(OpBuilder &builder, Value denominator) {
  divideSum(builder, *this, getAccuracy(), denominator);
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
