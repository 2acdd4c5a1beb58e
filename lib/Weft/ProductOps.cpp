//===- ProductOps.cpp - Matrix products -----------------------------------===//

#include "Parsing.h"

#include "weft/Layout/ProductShape.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Rules that all products share
//===----------------------------------------------------------------------===//

/// The shape of a product, or an error at `loc` if there is one.
static FailureOr<ProductShape> inferProduct(std::optional<Location> loc,
                                            Value lhs, Value rhs,
                                            bool transposeLhs,
                                            bool transposeRhs) {
  std::optional<ProductShape> shape = ProductShape::get(
      getShape(lhs), getShape(rhs), transposeLhs, transposeRhs);
  if (!shape)
    return emitOptionalError(loc,
                             "expects operands of rank 2 or more, but got ",
                             lhs.getType(), " and ", rhs.getType());
  if (!shape->isValid())
    return emitOptionalError(
        loc, "expects matching inner and batch dimensions, but got ",
        lhs.getType(), transposeLhs ? " transposed" : "", " and ",
        rhs.getType(), transposeRhs ? " transposed" : "");
  return *shape;
}

template <typename OpT> static LogicalResult verifyOut(OpT op) {
  Type element = tensorType(op.getLhs()).getElementType();
  if (!op.getOut() || *op.getOut() == element ||
      (op.getOut()->isF32() && isLowPrecision(element)))
    return success();
  return op.emitOpError("expects out to be the operands' type or f32 for f16 "
                        "and bf16, but got ")
         << *op.getOut() << " for " << element;
}

template <typename OpT> static LogicalResult verifyBias(OpT op) {
  if (!op.getBias())
    return success();
  auto bias = RankedTensorType::get(getShape(op.getResult()).back(),
                                    tensorType(op.getLhs()).getElementType());
  if (op.getBias().getType() != bias)
    return op.emitOpError("expects a bias of type ")
           << bias << ", but got " << op.getBias().getType();
  return success();
}

template <typename OpT> static double getProductFlops(OpT op) {
  ProductShape shape =
      *ProductShape::get(getShape(op.getLhs()), getShape(op.getRhs()),
                         op.getTransposeLhs(), op.getTransposeRhs());
  double flops = 2.0 * shape.m * shape.n * shape.k;
  for (int64_t dim : shape.batch)
    flops *= static_cast<double>(dim);
  return flops;
}

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

LogicalResult MatmulOp::inferTypes(std::optional<Location> loc, Adaptor adaptor,
                                   SmallVectorImpl<Type> &results) {
  auto isSet = [&](bool property, StringRef name) {
    return hasUnit(property, adaptor.getAttributes(), name);
  };
  FailureOr<ProductShape> shape =
      inferProduct(loc, adaptor.getLhs(), adaptor.getRhs(),
                   isSet(adaptor.getTransposeLhs(), "transpose_lhs"),
                   isSet(adaptor.getTransposeRhs(), "transpose_rhs"));
  if (failed(shape))
    return failure();
  Type element = tensorType(adaptor.getLhs()).getElementType();
  results.push_back(RankedTensorType::get(
      shape->getResult(),
      typeOr(adaptor.getOutAttr(), adaptor.getAttributes(), "out", element)));
  return success();
}

LogicalResult MatmulOp::verify() {
  return failed(verifyOut(*this)) ? failure() : verifyBias(*this);
}

double MatmulOp::getFlops() { return getProductFlops(*this); }

//===----------------------------------------------------------------------===//
// gemm
//===----------------------------------------------------------------------===//

/// Text that names the segments' sizes may say otherwise, and accessors would
/// read the next one.
static LogicalResult verifyGroups(GemmOp op) {
  if (op.getODSOperands(0).size() == 1 && op.getODSOperands(1).size() == 1 &&
      op.getODSResults(0).size() == 1)
    return success();
  return op.emitOpError("expects one lhs, one rhs and one result");
}

static LogicalResult verifyFactors(GemmOp op) {
  FailureOr<ProductShape> shape =
      inferProduct(op.getLoc(), op.getLhs(), op.getRhs(), op.getTransposeLhs(),
                   op.getTransposeRhs());
  if (failed(shape))
    return failure();
  Type element = tensorType(op.getLhs()).getElementType();
  if (tensorType(op.getRhs()).getElementType() != element)
    return op.emitOpError("expects factors of one element type, but got ")
           << op.getLhs().getType() << " and " << op.getRhs().getType();
  auto result =
      RankedTensorType::get(shape->getResult(), op.getOut().value_or(element));
  if (op.getResult().getType() != result)
    return op.emitOpError("expects a result of type ")
           << result << ", but got " << op.getResult().getType();
  return success();
}

/// The sum before an activation, written beside the result or read again.
static LogicalResult verifySum(GemmOp op, StringRef name, Value sum,
                               Type element) {
  if (getShape(sum) == getShape(op.getResult()) && isFactorOf(sum, element))
    return success();
  return op.emitOpError("expects ")
         << name << " of the shape of the result and of " << element
         << (isLowPrecision(element) ? " or f32" : "") << ", but got "
         << sum.getType();
}

/// Operands and results that only some epilogues have.
static LogicalResult verifyEpilogue(GemmOp op) {
  Epilogue epilogue = op.getEpilogue();
  bool isGradient =
      epilogue == Epilogue::ReluGrad || epilogue == Epilogue::GeluGrad;
  bool isActivation = epilogue == Epilogue::Relu || epilogue == Epilogue::Gelu;
  if (isGradient != (op.getAux() != Value()))
    return op.emitOpError("expects aux with relu_grad and gelu_grad and only "
                          "there, but got ")
           << (op.getAux() ? "one" : "none") << " with "
           << stringifyEpilogue(epilogue);
  if (op.getSum() && !isActivation)
    return op.emitOpError(
               "expects sum only with relu and gelu, but got one with ")
           << stringifyEpilogue(epilogue);
  if (op.getAux() &&
      failed(verifySum(op, "aux", op.getAux(),
                       tensorType(op.getLhs()).getElementType())))
    return failure();
  if (!op.getSum())
    return success();
  return verifySum(op, "sum", op.getSum(),
                   tensorType(op.getResult()).getElementType());
}

/// Sums, or null, of `size` numbers of what `summed` holds.
static LogicalResult verifySums(GemmOp op, StringRef name, Value sums,
                                int64_t size, Value summed) {
  if (!sums)
    return success();
  auto type = RankedTensorType::get(
      size, statisticsElement(tensorType(summed).getElementType()));
  if (sums.getType() == type)
    return success();
  return op.emitOpError("expects ")
         << name << " of type " << type << ", but got " << sums.getType();
}

static LogicalResult verifyFactorSums(GemmOp op) {
  ArrayRef<int64_t> result = getShape(op.getResult());
  if ((op.getLhsSum() || op.getRhsSum()) &&
      (getShape(op.getLhs()).size() != 2 || getShape(op.getRhs()).size() != 2))
    return op.emitOpError("expects factors of rank 2 with ")
           << (op.getLhsSum() ? "lhs_sum" : "rhs_sum") << ", but got "
           << op.getLhs().getType() << " and " << op.getRhs().getType();
  if (failed(verifySums(op, "lhs_sum", op.getLhsSum(),
                        result[result.size() - 2], op.getLhs())))
    return failure();
  return verifySums(op, "rhs_sum", op.getRhsSum(), result.back(), op.getRhs());
}

LogicalResult GemmOp::verify() {
  if (failed(verifyGroups(*this)) || failed(verifyOut(*this)) ||
      failed(verifyFactors(*this)) || failed(verifyBias(*this)) ||
      failed(verifyEpilogue(*this)) ||
      failed(verifySums(*this, "column_sum", getColumnSum(),
                        getShape(getResult()).back(), getResult())))
    return failure();
  return verifyFactorSums(*this);
}

double GemmOp::getFlops() { return getProductFlops(*this); }
