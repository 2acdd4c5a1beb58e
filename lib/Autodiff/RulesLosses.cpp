//===- RulesLosses.cpp - Adjoints of losses -------------------------------===//

#include "Adjoint.h"

using namespace mlir;

namespace weft {
namespace {

/// The gradient of the loss for one element: g, or g / count for a mean.
Value perElement(Value input, LossReduction reduction, Adjoint &a,
                 double factor = 1) {
  if (reduction == LossReduction::Mean)
    factor /= static_cast<double>(tensorType(input).getNumElements());
  return factor == 1 ? a.grad() : a.scale(a.grad(), factor);
}

/// 2 (input - target), and its negative for the target.
LogicalResult mseRule(MseOp op, Adjoint &a) {
  Value grad = perElement(op.getInput(), op.getReduction(), a, /*factor=*/2);
  Value difference = a.mul(a.sub(op.getInput(), op.getTarget()), grad);
  a.set(0, difference);
  if (a.needs(1))
    a.set(1, a.neg(difference));
  return success();
}

/// sigmoid(x) - t for x, -x for t.
LogicalResult bceRule(BceWithLogitsOp op, Adjoint &a) {
  Value x = op.getInput();
  Value grad = perElement(x, op.getReduction(), a);
  if (a.needs(0))
    a.set(0, a.mul(a.sub(a.make<SigmoidOp>(x), op.getTarget()), grad));
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

void attachLossRules(MLIRContext *context) {
  attachRule<MseOp, mseRule>(context);
  attachRule<BceWithLogitsOp, bceRule>(context);
  attachRule<CrossEntropyOp, crossEntropyRule>(context);
}

} // namespace weft
