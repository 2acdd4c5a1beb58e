//===- RulesUnary.cpp - Adjoints of elementwise functions -----------------===//
//
// With y = f(x) and the gradient g of y, the gradient of x is g f'(x). Where
// f' is a formula of y, it is written with y. Rules of several steps compute in
// f32 for f16 and bf16 and round once, in Adjoint::set.
//
//===----------------------------------------------------------------------===//

#include "Adjoint.h"

#include <cmath>

using namespace mlir;
using namespace weft;

namespace {

/// d/dx -x = -1.
LogicalResult negRule(NegOp, Adjoint &a) {
  a.set(0, a.neg(a.grad()));
  return success();
}

/// d/dx |x| = 1 above 0, -1 below, 0 at 0 and, as in PyTorch, at NaN.
LogicalResult absRule(AbsOp op, Adjoint &a) {
  Value x = op.getOperand(), zero = a.constant(0, x);
  auto holds = [&](Predicate predicate) {
    return a.cast(a.compare(predicate, x, zero), elementTypeOf(x));
  };
  Value slope = a.sub(holds(Predicate::GT), holds(Predicate::LT));
  a.set(0, a.mul(a.grad(), slope));
  return success();
}

/// Zero almost everywhere.
LogicalResult signRule(SignOp, Adjoint &) { return success(); }

LogicalResult expRule(ExpOp op, Adjoint &a) {
  a.set(0, a.mul(a.grad(), op.getResult()));
  return success();
}

LogicalResult logRule(LogOp op, Adjoint &a) {
  a.set(0, a.div(a.grad(), op.getOperand()));
  return success();
}

LogicalResult log1pRule(Log1pOp op, Adjoint &a) {
  Value x = a.wide(op.getOperand());
  a.set(0, a.div(a.wideGrad(), a.add(x, a.constant(1, x))));
  return success();
}

/// d/dx sqrt(x) = 1 / (2 y).
LogicalResult sqrtRule(SqrtOp op, Adjoint &a) {
  a.set(0, a.div(a.wideGrad(), a.scale(a.wide(op.getResult()), 2)));
  return success();
}

/// d/dx x^(-1/2) = -1/2 y^3. The gradient comes first: powers of y alone may
/// overflow.
LogicalResult rsqrtRule(RsqrtOp op, Adjoint &a) {
  Value y = a.wide(op.getResult());
  Value half = a.scale(a.wideGrad(), -0.5);
  a.set(0, a.mul(a.mul(a.mul(half, y), y), y));
  return success();
}

/// d/dx 1/x = -y^2; the gradient first, as for rsqrt.
LogicalResult reciprocalRule(ReciprocalOp op, Adjoint &a) {
  Value y = a.wide(op.getResult());
  a.set(0, a.neg(a.mul(a.mul(a.wideGrad(), y), y)));
  return success();
}

/// 1 - y^2.
LogicalResult tanhRule(TanhOp op, Adjoint &a) {
  Value y = a.wide(op.getResult());
  Value slope = a.sub(a.constant(1, y), a.mul(y, y));
  a.set(0, a.mul(a.wideGrad(), slope));
  return success();
}

/// 2 / sqrt(pi) e^(-x^2).
LogicalResult erfRule(ErfOp op, Adjoint &a) {
  Value x = a.wide(op.getOperand());
  Value bell = a.make<ExpOp>(a.neg(a.mul(x, x)));
  a.set(0, a.mul(a.wideGrad(), a.scale(bell, 2 / std::sqrt(M_PI))));
  return success();
}

LogicalResult sinRule(SinOp op, Adjoint &a) {
  Value slope = a.make<CosOp>(a.wide(op.getOperand()));
  a.set(0, a.mul(a.wideGrad(), slope));
  return success();
}

LogicalResult cosRule(CosOp op, Adjoint &a) {
  Value slope = a.make<SinOp>(a.wide(op.getOperand()));
  a.set(0, a.neg(a.mul(a.wideGrad(), slope)));
  return success();
}

/// y (1 - y).
LogicalResult sigmoidRule(SigmoidOp op, Adjoint &a) {
  Value y = a.wide(op.getResult());
  a.set(0, a.mul(a.wideGrad(), a.mul(y, a.sub(a.constant(1, y), y))));
  return success();
}

/// 0 where x <= 0, else g: the gradient at a NaN is g, as PyTorch's, so that
/// the check for non-finite gradients sees what made it.
LogicalResult reluRule(ReluOp op, Adjoint &a) {
  a.set(0, a.make<ReluGradOp>(a.grad(), op.getOperand()));
  return success();
}

/// s (1 + x (1 - s)) with s = sigmoid(x).
LogicalResult siluRule(SiluOp op, Adjoint &a) {
  Value x = a.wide(op.getOperand()), one = a.constant(1, x);
  Value s = a.make<SigmoidOp>(x);
  Value slope = a.mul(s, a.add(a.mul(x, a.sub(one, s)), one));
  a.set(0, a.mul(a.wideGrad(), slope));
  return success();
}

LogicalResult softplusRule(SoftplusOp op, Adjoint &a) {
  Value slope = a.make<SigmoidOp>(a.wide(op.getOperand()));
  a.set(0, a.mul(a.wideGrad(), slope));
  return success();
}

/// g (Phi(x) + x phi(x)), or the slope of the tanh form.
LogicalResult geluRule(GeluOp op, Adjoint &a) {
  Value x = a.wide(op.getOperand());
  a.set(0, a.make<GeluGradOp>(a.wideGrad(), x, op.getApproximate()));
  return success();
}

} // namespace

void weft::attachUnaryRules(MLIRContext *context) {
  attachRule<NegOp, negRule>(context);
  attachRule<AbsOp, absRule>(context);
  attachRule<SignOp, signRule>(context);
  attachRule<ExpOp, expRule>(context);
  attachRule<LogOp, logRule>(context);
  attachRule<Log1pOp, log1pRule>(context);
  attachRule<SqrtOp, sqrtRule>(context);
  attachRule<RsqrtOp, rsqrtRule>(context);
  attachRule<ReciprocalOp, reciprocalRule>(context);
  attachRule<TanhOp, tanhRule>(context);
  attachRule<ErfOp, erfRule>(context);
  attachRule<SinOp, sinRule>(context);
  attachRule<CosOp, cosRule>(context);
  attachRule<SigmoidOp, sigmoidRule>(context);
  attachRule<ReluOp, reluRule>(context);
  attachRule<SiluOp, siluRule>(context);
  attachRule<SoftplusOp, softplusRule>(context);
  attachRule<GeluOp, geluRule>(context);
}
