//===- NeuralOps.cpp - Layers ---------------------------------------------===//

#include "Parsing.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// embedding
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingOp::inferTypes(std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
  RankedTensorType table = tensorType(adaptor.getTable());
  if (table.getRank() != 2)
    return emitOptionalError(loc, "expects a table of rank 2, but got ", table);
  SmallVector<int64_t> shape(tensorType(adaptor.getIds()).getShape());
  shape.push_back(table.getDimSize(1));
  results.push_back(RankedTensorType::get(shape, table.getElementType()));
  return success();
}

LogicalResult EmbeddingGradOp::verify() {
  RankedTensorType grad = tensorType(getGrad()),
                   table = tensorType(getResult());
  SmallVector<int64_t> shape(tensorType(getIds()).getShape());
  if (table.getRank() != 2)
    return emitOpError("expects a result of rank 2, but got ") << table;
  shape.push_back(table.getDimSize(1));
  if (grad.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError("expects a gradient of shape [")
           << ArrayRef<int64_t>(shape) << "], but got " << grad;
  Type from = grad.getElementType(), to = table.getElementType();
  if (from != to && !(isLowPrecision(from) && to.isF32()))
    return emitOpError("expects a result of the gradient's element type or f32 "
                       "for f16 and bf16, but got ")
           << table << " for " << grad;
  return success();
}

//===----------------------------------------------------------------------===//
// softmax, norms, dropout
//===----------------------------------------------------------------------===//

template <typename OpT> static LogicalResult verifySoftmax(OpT op) {
  RankedTensorType type = tensorType(op.getOperand());
  int64_t axis = op.getAxis();
  if (axis < 0 || axis >= type.getRank())
    return op.emitOpError("expects a dim of ")
           << type << ", but got " << static_cast<int64_t>(op.getDim());
  return success();
}

/// The operand's type with the element type that was asked for.
template <typename AdaptorT> static Type inferSoftmax(AdaptorT adaptor) {
  RankedTensorType type = tensorType(adaptor.getOperand());
  return type.clone(typeOr(adaptor.getDtypeAttr(), adaptor.getAttributes(),
                           "dtype", type.getElementType()));
}

LogicalResult SoftmaxOp::inferTypes(std::optional<Location>, Adaptor adaptor,
                                    SmallVectorImpl<Type> &results) {
  results.push_back(inferSoftmax(adaptor));
  return success();
}

LogicalResult LogSoftmaxOp::inferTypes(std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  results.push_back(inferSoftmax(adaptor));
  return success();
}

LogicalResult SoftmaxOp::verify() { return verifySoftmax(*this); }
LogicalResult LogSoftmaxOp::verify() { return verifySoftmax(*this); }

/// Checks a norm's weight (and bias) [C] against an operand [..., C].
static LogicalResult verifyNorm(Operation *op, RankedTensorType type,
                                ValueRange vectors, double eps) {
  if (type.getRank() < 1)
    return op->emitOpError("expects an operand of rank 1 or more, but got ")
           << type;
  for (Value vector : vectors)
    if (tensorType(vector).getShape() != type.getShape().take_back())
      return op->emitOpError("expects weight and bias of shape [")
             << type.getShape().back() << "], but got " << vector.getType();
  for (Value vector : vectors)
    if (!isFactorOf(vector, type.getElementType()))
      return op->emitOpError("expects weight and bias of the operand's element "
                             "type or f32 for f16 and bf16, but got ")
             << vector.getType() << " for " << type;
  if (!(eps >= 0.0) || !std::isfinite(eps))
    return op->emitOpError("expects a finite eps of at least 0, but got ")
           << eps;
  return success();
}

LogicalResult LayerNormOp::inferTypes(std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &results) {
  RankedTensorType type = tensorType(adaptor.getOperand());
  if (type.getRank() < 1)
    return emitOptionalError(
        loc, "expects an operand of rank 1 or more, but got ", type);
  results.assign({type, rowStatistics(type), rowStatistics(type)});
  return success();
}

LogicalResult LayerNormOp::verify() {
  return verifyNorm(*this, tensorType(getOperand()), {getWeight(), getBias()},
                    getEps().convertToDouble());
}

LogicalResult RmsNormOp::inferTypes(std::optional<Location> loc,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &results) {
  RankedTensorType type = tensorType(adaptor.getOperand());
  if (type.getRank() < 1)
    return emitOptionalError(
        loc, "expects an operand of rank 1 or more, but got ", type);
  results.assign({type, rowStatistics(type)});
  return success();
}

LogicalResult RmsNormOp::verify() {
  return verifyNorm(*this, tensorType(getOperand()), {getWeight()},
                    getEps().convertToDouble());
}

LogicalResult weft::verifyRandom(Operation *op, Value rng, double p) {
  if (!(p >= 0.0 && p < 1.0))
    return op->emitOpError("expects a dropout probability in [0, 1), but got ")
           << p;
  if (!rng)
    return success();
  RankedTensorType type = tensorType(rng);
  if (type.getRank() == 1 && type.getDimSize(0) == 2 &&
      type.getElementType().isInteger(64))
    return success();
  return op->emitOpError("expects rng of type tensor<2xi64>, but got ") << type;
}

LogicalResult DropoutOp::verify() {
  if (tensorType(getOperand()).getRank() < 1)
    return emitOpError("expects an operand of rank 1 or more, but got ")
           << getOperand().getType();
  return verifyRandom(*this, getRng(), getP().convertToDouble());
}
