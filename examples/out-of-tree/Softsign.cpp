//===- Softsign.cpp - The interfaces of ext.softsign ----------------------===//

#include "Ext.h"

#include "weft/Interp/OpCall.h"
#include "weft/Weft/FormulaBuilder.h"

#include <cmath>

using namespace mlir;
using namespace weft;

/// 1 + |x|
static Value onePlusAbs(FormulaBuilder &f, Value x) {
  return f.add(f.unary<AbsOp>(x), f.constant(1.0, x));
}

/// With y = x / (1 + |x|), dy/dx = 1 / (1 + |x|)^2.
LogicalResult
ext::SoftsignOp::buildAdjoint(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool> needed,
                              MutableArrayRef<Value> operandGrads) {
  FormulaBuilder f(builder, getLoc());
  Value sum = onePlusAbs(f, f.widen(getOperand()));
  Value grad = f.div(f.widen(resultGrads[0]), f.mul(sum, sum));
  operandGrads[0] = f.finish(grad, getType());
  return success();
}

/// The op in ops of weft, which every target can run.
FailureOr<SmallVector<Value>> ext::SoftsignOp::decompose(OpBuilder &builder) {
  FormulaBuilder f(builder, getLoc());
  Value x = f.widen(getOperand());
  Value y = f.div(x, onePlusAbs(f, x));
  return SmallVector<Value>{f.finish(y, getType())};
}

/// The reference that passes and kernels are compared with.
LogicalResult ext::SoftsignOp::interpret(OpCall &call) {
  const Tensor &x = call.operand(0);
  Tensor &y = call.result();
  for (int64_t i = 0; i < y.size(); ++i)
    y.at(i) = x.at(i) / (1 + std::abs(x.at(i)));
  return success();
}

/// Each row of the result depends on the same row of the operand. The function
/// is not linear: of a mean over rows nothing is known.
RowFlow ext::SoftsignOp::getRowFlow(ArrayRef<RowFlow> operands, int64_t batch) {
  return operands[0].isMean() ? RowFlow::unknown() : operands[0];
}
