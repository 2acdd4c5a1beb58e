//===- Softsign.cpp - What weft asks ext.softsign -------------------------===//

#include "Ext.h"

#include "weft/Interp/OpCall.h"

#include <cmath>

using namespace mlir;
using namespace weft;

namespace {
/// Ops of a formula. They compute in f32 for f16 and bf16, and the result is
/// rounded once.
class Formula {
public:
  Formula(OpBuilder &builder, Location loc) : b(builder), loc(loc) {}

  Value widen(Value x) {
    auto element = cast<FloatType>(getElementTypeOrSelf(x.getType()));
    return element.getWidth() < 32 ? castTo(x, b.getF32Type()) : x;
  }
  Value castTo(Value x, Type element) {
    if (getElementTypeOrSelf(x.getType()) == element)
      return x;
    auto type = cast<RankedTensorType>(x.getType()).clone(element);
    return CastOp::create(b, loc, type, x);
  }
  Value mul(Value x, Value y) { return MulOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return DivOp::create(b, loc, x, y); }

  /// 1 + |x|
  Value onePlusAbs(Value x) {
    Type element = getElementTypeOrSelf(x.getType());
    auto scalar = RankedTensorType::get({}, element);
    Value one = ConstantOp::create(
        b, loc, scalar,
        DenseElementsAttr::get(scalar, b.getFloatAttr(element, 1.0)));
    return AddOp::create(b, loc, AbsOp::create(b, loc, x.getType(), x), one);
  }

private:
  OpBuilder &b;
  Location loc;
};
} // namespace

/// With y = x / (1 + |x|), dy/dx = 1 / (1 + |x|)^2.
LogicalResult
ext::SoftsignOp::buildAdjoint(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool> needed,
                              MutableArrayRef<Value> operandGrads) {
  Formula f(builder, getLoc());
  Value sum = f.onePlusAbs(f.widen(getOperand()));
  Value grad = f.div(f.widen(resultGrads[0]), f.mul(sum, sum));
  operandGrads[0] = f.castTo(grad, getElementTypeOrSelf(getType()));
  return success();
}

/// The op in ops of weft, which every target can run.
FailureOr<SmallVector<Value>> ext::SoftsignOp::decompose(OpBuilder &builder) {
  Formula f(builder, getLoc());
  Value x = f.widen(getOperand());
  Value y = f.div(x, f.onePlusAbs(x));
  return SmallVector<Value>{f.castTo(y, getElementTypeOrSelf(getType()))};
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
