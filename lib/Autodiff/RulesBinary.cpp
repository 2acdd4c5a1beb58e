//===- RulesBinary.cpp - Adjoints of elementwise ops of two operands ------===//
//
// Where the op broadcast an operand, Adjoint::set sums its gradient back.
// Ties of max and min share the gradient equally, as in PyTorch.
//
//===----------------------------------------------------------------------===//

#include "Adjoint.h"

using namespace mlir;
using namespace weft;

namespace {

LogicalResult addRule(AddOp, Adjoint &a) {
  a.set(0, a.grad());
  a.set(1, a.grad());
  return success();
}

LogicalResult subRule(SubOp, Adjoint &a) {
  a.set(0, a.grad());
  if (a.needs(1))
    a.set(1, a.neg(a.grad()));
  return success();
}

LogicalResult mulRule(MulOp op, Adjoint &a) {
  if (a.needs(0))
    a.set(0, a.mul(a.grad(), op.getRhs()));
  if (a.needs(1))
    a.set(1, a.mul(a.grad(), op.getLhs()));
  return success();
}

/// d lhs = g / rhs, d rhs = -g (y / rhs): g / rhs may be infinite where y is 0.
LogicalResult divRule(DivOp op, Adjoint &a) {
  Value grad = a.wideGrad(), rhs = a.wide(op.getRhs());
  if (a.needs(0))
    a.set(0, a.div(grad, rhs));
  if (a.needs(1))
    a.set(1, a.neg(a.mul(grad, a.div(a.wide(op.getResult()), rhs))));
  return success();
}

/// An operand gets the gradient unless it `loses` against the other; half of it
/// where they are equal. Neither loses where one is NaN: both get all of it, as
/// in PyTorch.
LogicalResult extremumRule(Value lhs, Value rhs, Predicate loses, Adjoint &a) {
  Value zero = a.constant(0, lhs);
  Value tie = a.compare(Predicate::EQ, lhs, rhs);
  Value half = a.scale(a.grad(), 0.5);
  auto share = [&](Value own, Value other) {
    Value lost = a.compare(loses, own, other);
    return a.select(tie, half, a.select(lost, zero, a.grad()));
  };
  if (a.needs(0))
    a.set(0, share(lhs, rhs));
  if (a.needs(1))
    a.set(1, share(rhs, lhs));
  return success();
}

LogicalResult maxRule(MaxOp op, Adjoint &a) {
  return extremumRule(op.getLhs(), op.getRhs(), Predicate::LT, a);
}

LogicalResult minRule(MinOp op, Adjoint &a) {
  return extremumRule(op.getLhs(), op.getRhs(), Predicate::GT, a);
}

/// d lhs = g r l^(r-1), 0 where r = 0; d rhs = g l^r ln(l), 0 where l = 0 and
/// r >= 0.
LogicalResult powRule(PowOp op, Adjoint &a) {
  Value l = a.wide(op.getLhs()), r = a.wide(op.getRhs());
  Value zero = a.constant(0, l), grad = a.wideGrad();
  if (a.needs(0)) {
    Value power = a.make<PowOp>(l, a.sub(r, a.constant(1, r)));
    Value slope =
        a.select(a.compare(Predicate::EQ, r, zero), zero, a.mul(r, power));
    a.set(0, a.mul(grad, slope));
  }
  if (a.needs(1)) {
    Value flat = a.make<AndOp>(a.compare(Predicate::EQ, l, zero),
                               a.compare(Predicate::GE, r, zero));
    Value y = a.wide(op.getResult());
    Value slope = a.select(flat, zero, a.mul(y, a.make<LogOp>(l)));
    a.set(1, a.mul(grad, slope));
  }
  return success();
}

LogicalResult selectRule(SelectOp op, Adjoint &a) {
  Value zero = a.constant(0, a.grad());
  if (a.needs(1))
    a.set(1, a.select(op.getCondition(), a.grad(), zero));
  if (a.needs(2))
    a.set(2, a.select(op.getCondition(), zero, a.grad()));
  return success();
}

LogicalResult castRule(CastOp op, Adjoint &a) {
  a.set(0, a.cast(a.grad(), elementTypeOf(op.getOperand())));
  return success();
}

} // namespace

void weft::attachBinaryRules(MLIRContext *context) {
  attachRule<AddOp, addRule>(context);
  attachRule<SubOp, subRule>(context);
  attachRule<MulOp, mulRule>(context);
  attachRule<DivOp, divRule>(context);
  attachRule<MaxOp, maxRule>(context);
  attachRule<MinOp, minRule>(context);
  attachRule<PowOp, powRule>(context);
  attachRule<SelectOp, selectRule>(context);
  attachRule<CastOp, castRule>(context);
}
