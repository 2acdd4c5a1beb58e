//===- RulesLosses.cpp - Adjoints of losses -------------------------------===//

#include "Adjoint.h"

using namespace mlir;
using namespace weft;

namespace {

/// `factor` times the gradient of the loss for one element: g, or g / count for
/// a mean. The count is exact in f32, its inverse is not.
Value perElement(Value input, LossReduction reduction, Adjoint &a,
                 double factor = 1) {
  Value grad = factor == 1 ? a.grad() : a.scale(a.grad(), factor);
  if (reduction != LossReduction::Mean)
    return grad;
  const double count = static_cast<double>(tensorType(input).getNumElements());
  return a.div(grad, a.constant(count, grad));
}

/// 2 (input - target), and its negative for the target.
LogicalResult mseRule(MseOp op, Adjoint &a) {
  Value x = a.wide(op.getInput()), t = a.wide(op.getTarget());
  Value grad = perElement(x, op.getReduction(), a, /*factor=*/2);
  Value difference = a.mul(a.sub(x, t), grad);
  a.set(0, difference);
  if (a.needs(1))
    a.set(1, a.neg(difference));
  return success();
}

/// (p - t) / max(p (1 - p), 1e-12) for the probability p, as in PyTorch, and
/// max(ln(1 - p), -100) - max(ln p, -100) for the target t.
LogicalResult bceRule(BceOp op, Adjoint &a) {
  Value p = a.wide(op.getInput()), t = a.wide(op.getTarget());
  Value grad = perElement(p, op.getReduction(), a);
  if (a.needs(0)) {
    Value product = a.mul(p, a.sub(a.constant(1, p), p));
    Value least = a.make<MaxOp>(product, a.constant(1e-12, p));
    a.set(0, a.mul(a.div(a.sub(p, t), least), grad));
  }
  if (a.needs(1)) {
    Value limit = a.constant(-100, p);
    Value hit = a.make<MaxOp>(a.make<LogOp>(p), limit);
    Value miss = a.make<MaxOp>(a.make<Log1pOp>(a.neg(p)), limit);
    a.set(1, a.mul(a.sub(miss, hit), grad));
  }
  return success();
}

/// sigmoid(x) - t for x, -x for t.
LogicalResult bceWithLogitsRule(BceWithLogitsOp op, Adjoint &a) {
  Value x = a.wide(op.getInput()), t = a.wide(op.getTarget());
  Value grad = perElement(x, op.getReduction(), a);
  if (a.needs(0))
    a.set(0, a.mul(a.sub(a.make<SigmoidOp>(x), t), grad));
  if (a.needs(1))
    a.set(1, a.neg(a.mul(x, grad)));
  return success();
}

LogicalResult crossEntropyRule(CrossEntropyOp op, Adjoint &a) {
  if (failed(a.expectFirstResultOnly()))
    return failure();
  if (op.getWeight() && failed(a.expectUnneeded(2, "weight")))
    return failure();
  a.set(0, a.make<CrossEntropyGradOp>(
               a.grad(), op.getLogits(), op.getTargets(), op.getLse(),
               op.getDenom(), op.getWeight(), op.getIgnoreIndex(),
               op.getLabelSmoothing(), op.getReduction()));
  return success();
}

} // namespace

void weft::attachLossRules(MLIRContext *context) {
  attachRule<MseOp, mseRule>(context);
  attachRule<BceOp, bceRule>(context);
  attachRule<BceWithLogitsOp, bceWithLogitsRule>(context);
  attachRule<CrossEntropyOp, crossEntropyRule>(context);
}
