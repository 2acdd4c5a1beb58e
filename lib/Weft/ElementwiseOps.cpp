//===- ElementwiseOps.cpp - Elementwise ops -------------------------------===//

#include "Parsing.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft;

/// Result type of an elementwise op: the broadcast of the operands' shapes.
static LogicalResult inferBroadcast(std::optional<Location> loc,
                                    ValueRange operands, Type element,
                                    SmallVectorImpl<Type> &results) {
  if (failed(checkOperands(loc, operands)))
    return failure();
  SmallVector<int64_t> shape;
  for (Value operand : operands) {
    auto type = cast<RankedTensorType>(operand.getType());
    FailureOr<SmallVector<int64_t>> joined =
        broadcastShapes(shape, type.getShape());
    if (failed(joined))
      return emitOptionalError(loc, "expects shapes that broadcast, but got ",
                               operands.front().getType(), " and ",
                               operand.getType());
    shape = *joined;
  }
  results.push_back(RankedTensorType::get(shape, element));
  return success();
}

#define INFER_BINARY(OP)                                                       \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> loc, ValueRange operands,         \
      DictionaryAttr, OpaqueProperties, RegionRange,                           \
      SmallVectorImpl<Type> &results) {                                        \
    return inferBroadcast(                                                     \
        loc, operands, getElementTypeOrSelf(operands[0].getType()), results);  \
  }
#define VERIFY_ARITHMETIC(OP)                                                  \
  LogicalResult OP::verify() { return verifyArithmetic(*this); }

/// Arithmetic is on numbers; i1 has ops of its own.
static LogicalResult verifyArithmetic(Operation *op) {
  Type type = op->getOperand(0).getType();
  if (getElementTypeOrSelf(type).isInteger(1))
    return op->emitOpError("expects numbers, but got ") << type;
  return success();
}

INFER_BINARY(AddOp)
INFER_BINARY(SubOp)
INFER_BINARY(MulOp)
INFER_BINARY(DivOp)
INFER_BINARY(MaxOp)
INFER_BINARY(MinOp)
INFER_BINARY(PowOp)
INFER_BINARY(AndOp)
INFER_BINARY(OrOp)
VERIFY_ARITHMETIC(AddOp)
VERIFY_ARITHMETIC(SubOp)
VERIFY_ARITHMETIC(MulOp)
VERIFY_ARITHMETIC(DivOp)
VERIFY_ARITHMETIC(MaxOp)
VERIFY_ARITHMETIC(MinOp)

LogicalResult PowOp::verify() {
  if (!isa<FloatType>(getElementTypeOrSelf(getLhs().getType())))
    return emitOpError("expects floating-point operands, but got ")
           << getLhs().getType();
  return verifyArithmetic(*this);
}

LogicalResult PhiloxOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> loc,
                                         ValueRange operands, DictionaryAttr,
                                         OpaqueProperties, RegionRange,
                                         SmallVectorImpl<Type> &results) {
  return inferBroadcast(loc, operands, Float32Type::get(context), results);
}

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> loc,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &results) {
  return inferBroadcast(loc, operands, IntegerType::get(context, 1), results);
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         ValueRange operands, DictionaryAttr,
                                         OpaqueProperties, RegionRange,
                                         SmallVectorImpl<Type> &results) {
  return inferBroadcast(loc, operands,
                        getElementTypeOrSelf(operands[1].getType()), results);
}

LogicalResult SelectOp::verify() {
  if (getElementTypeOrSelf(getOnTrue().getType()) ==
      getElementTypeOrSelf(getOnFalse().getType()))
    return success();
  return emitOpError("expects choices of one element type, but got ")
         << getOnTrue().getType() << " and " << getOnFalse().getType();
}

//===----------------------------------------------------------------------===//
// Folds that keep every bit
//===----------------------------------------------------------------------===//

/// Whether the attribute is a splat float constant of that value. Zeros must
/// have the given sign: x + -0.0 is x for every x, x + 0.0 is not.
static bool isSplat(Attribute attr, double value) {
  auto elements = dyn_cast_or_null<DenseFPElementsAttr>(attr);
  if (!elements || !elements.isSplat())
    return false;
  APFloat splat = elements.getSplatValue<APFloat>();
  bool lost;
  splat.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return splat.bitwiseIsEqual(APFloat(value));
}

/// `kept` if the op's result has its type.
static OpFoldResult keep(Value kept, Value result) {
  return kept.getType() == result.getType() ? OpFoldResult(kept)
                                            : OpFoldResult();
}

OpFoldResult NegOp::fold(FoldAdaptor) {
  if (auto inner = getOperand().getDefiningOp<NegOp>())
    return inner.getOperand();
  return {};
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), -0.0))
    return keep(getLhs(), getResult());
  return {};
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 0.0))
    return keep(getLhs(), getResult());
  return {};
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1.0))
    return keep(getLhs(), getResult());
  return {};
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1.0))
    return keep(getLhs(), getResult());
  return {};
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return keep(getOperand(), getResult());
}
