//===- Adjoint.cpp - Helpers of gradient rules ----------------------------===//

#include "Adjoint.h"

#include "weft/Weft/Precision.h"

using namespace mlir;
using namespace weft;

RankedTensorType weft::tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

ArrayRef<int64_t> weft::shapeOf(Value value) {
  return tensorType(value).getShape();
}

Type weft::elementTypeOf(Value value) {
  return tensorType(value).getElementType();
}

void Adjoint::set(unsigned index, Value grad) {
  if (!grad || !needs(index))
    return;
  Value operand = op->getOperand(index);
  grad = sumTo(grad, shapeOf(operand));
  operandGrads[index] = cast(grad, elementTypeOf(operand));
}

LogicalResult Adjoint::expectFirstResultOnly() const {
  for (unsigned i = 1; i < resultGrads.size(); ++i)
    if (resultGrads[i])
      return op->emitOpError(
                 "expects a gradient only for result 0, but result ")
             << i << " is used in the loss";
  return success();
}

LogicalResult Adjoint::expectUnneeded(unsigned index, StringRef name) const {
  if (!needs(index))
    return success();
  return op->emitOpError("does not support a gradient of '")
         << name << "' yet; compute it from frozen parameters";
}

Value Adjoint::add(Value lhs, Value rhs) { return make<AddOp>(lhs, rhs); }
Value Adjoint::sub(Value lhs, Value rhs) { return make<SubOp>(lhs, rhs); }
Value Adjoint::mul(Value lhs, Value rhs) { return make<MulOp>(lhs, rhs); }
Value Adjoint::div(Value lhs, Value rhs) { return make<DivOp>(lhs, rhs); }
Value Adjoint::neg(Value value) { return make<NegOp>(value); }

Value Adjoint::compare(Predicate predicate, Value lhs, Value rhs) {
  return make<CompareOp>(predicate, lhs, rhs);
}

Value Adjoint::select(Value condition, Value onTrue, Value onFalse) {
  return make<SelectOp>(condition, onTrue, onFalse);
}

Value Adjoint::constant(double number, Value like) {
  auto type = RankedTensorType::get({}, elementTypeOf(like));
  Attribute element = builder.getFloatAttr(type.getElementType(), number);
  return make<ConstantOp>(
      llvm::cast<ElementsAttr>(DenseElementsAttr::get(type, element)));
}

Value Adjoint::scale(Value value, double number) {
  return mul(value, constant(number, value));
}

Value Adjoint::cast(Value value, Type elementType) {
  if (elementTypeOf(value) == elementType)
    return value;
  return make<CastOp>(tensorType(value).clone(elementType), value);
}

Value Adjoint::wide(Value value) {
  bool isLow = isLowPrecision(elementTypeOf(value));
  return isLow ? cast(value, builder.getF32Type()) : value;
}

Value Adjoint::reshape(Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  return make<ReshapeOp>(tensorType(value).clone(shape), value);
}

Value Adjoint::transpose(Value value, ArrayRef<int64_t> permutation) {
  return make<TransposeOp>(value, permutation);
}

Value Adjoint::broadcast(Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  return make<BroadcastOp>(tensorType(value).clone(shape), value);
}

Value Adjoint::reduce(ReduceKind kind, Value value, ArrayRef<int64_t> dims,
                      bool keepDims) {
  return make<ReduceOp>(kind, value, dims, keepDims);
}

Value Adjoint::sumTo(Value value, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = shapeOf(value);
  if (from == shape)
    return value;
  int64_t leading = static_cast<int64_t>(from.size() - shape.size());
  SmallVector<int64_t> dims;
  for (int64_t dim = 0, rank = from.size(); dim < rank; ++dim)
    if (dim < leading || (shape[dim - leading] == 1 && from[dim] != 1))
      dims.push_back(dim);
  Value sum = reduce(ReduceKind::Sum, value, dims, /*keepDims=*/leading == 0);
  return reshape(sum, shape);
}
