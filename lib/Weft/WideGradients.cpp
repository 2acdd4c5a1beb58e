//===- WideGradients.cpp - Gradients that are not rounded -----------------===//

#include "Parsing.h"

using namespace mlir;
using namespace weft;

using Unrounded = function_ref<Value(Value)>;

static RankedTensorType getWideType(OpBuilder &builder, Value result) {
  return tensorType(result).clone(builder.getF32Type());
}

Value MatmulOp::buildWideGradient(OpBuilder &builder, OpResult result,
                                  Unrounded) {
  auto wide = cast<MatmulOp>(builder.clone(**this));
  wide.setOut(builder.getF32Type());
  wide.getResult().setType(getWideType(builder, result));
  return wide;
}

Value EmbeddingGradOp::buildWideGradient(OpBuilder &builder, OpResult result,
                                         Unrounded) {
  return EmbeddingGradOp::create(
      builder, getLoc(), getWideType(builder, result), getGrad(), getIds());
}

Value ReduceOp::buildWideGradient(OpBuilder &builder, OpResult,
                                  Unrounded unrounded) {
  return ReduceOp::create(builder, getLoc(), getKind(), unrounded(getOperand()),
                          getDims(), getKeepDims());
}
