//===- RulesLayers.cpp - Adjoints of normalisations and other layers ------===//
//
// In primitive ops, so that fusion takes them together with their neighbours.
//
//===----------------------------------------------------------------------===//

#include "Adjoint.h"

using namespace mlir;
using namespace weft;

namespace {

/// The last dimension of `value`, as the dims of a reduction.
SmallVector<int64_t> lastDim(Value value) {
  return {tensorType(value).getRank() - 1};
}

/// `row`, one number for each row of `like`, with a last dimension of size 1.
Value asColumn(Value row, Value like, Adjoint &a) {
  SmallVector<int64_t> shape(shapeOf(like));
  shape.back() = 1;
  return a.reshape(row, shape);
}

/// dx = y (g - sum(g y)).
LogicalResult softmaxRule(SoftmaxOp op, Adjoint &a) {
  Value y = a.wide(op.getResult()), grad = a.wideGrad();
  Value sum = a.reduce(ReduceKind::Sum, a.mul(grad, y), {op.getAxis()},
                       /*keepDims=*/true);
  a.set(0, a.mul(y, a.sub(grad, sum)));
  return success();
}

/// dx = g - e^y sum(g).
LogicalResult logSoftmaxRule(LogSoftmaxOp op, Adjoint &a) {
  Value grad = a.wideGrad();
  Value sum = a.reduce(ReduceKind::Sum, grad, {op.getAxis()},
                       /*keepDims=*/true);
  Value y = a.make<ExpOp>(a.wide(op.getResult()));
  a.set(0, a.sub(grad, a.mul(y, sum)));
  return success();
}

/// With n = (x - mean) rstd and h = g weight, both wide as rstd is:
/// dx = rstd (h - mean(h) - n mean(h n)); RMS norm has no mean(h).
Value normGradient(Value normal, Value scaled, Value rstd, bool centered,
                   Adjoint &a) {
  SmallVector<int64_t> last = lastDim(normal);
  Value along = a.reduce(ReduceKind::Mean, a.mul(scaled, normal), last,
                         /*keepDims=*/true);
  Value rest = scaled;
  if (centered)
    rest = a.sub(rest, a.reduce(ReduceKind::Mean, scaled, last,
                                /*keepDims=*/true));
  return a.mul(a.sub(rest, a.mul(normal, along)), rstd);
}

LogicalResult layerNormRule(LayerNormOp op, Adjoint &a) {
  if (failed(a.expectFirstResultOnly()))
    return failure();
  Value x = op.getOperand();
  Value grad = a.wideGrad(), rstd = asColumn(op.getRstd(), x, a);
  if (a.needs(0) || a.needs(1)) {
    Value mean = asColumn(op.getMean(), x, a);
    Value normal = a.mul(a.sub(a.wide(x), mean), rstd);
    if (a.needs(0)) {
      Value scaled = a.mul(grad, a.wide(op.getWeight()));
      a.set(0, normGradient(normal, scaled, rstd, true, a));
    }
    if (a.needs(1))
      a.set(1, a.mul(grad, normal));
  }
  a.set(2, grad);
  return success();
}

LogicalResult rmsNormRule(RmsNormOp op, Adjoint &a) {
  if (failed(a.expectFirstResultOnly()))
    return failure();
  Value x = op.getOperand();
  Value grad = a.wideGrad(), rstd = asColumn(op.getRstd(), x, a);
  Value normal = a.mul(a.wide(x), rstd);
  if (a.needs(0)) {
    Value scaled = a.mul(grad, a.wide(op.getWeight()));
    a.set(0, normGradient(normal, scaled, rstd, false, a));
  }
  if (a.needs(1))
    a.set(1, a.mul(grad, normal));
  return success();
}

/// A rotation: its adjoint turns back.
LogicalResult ropeRule(RopeOp op, Adjoint &a) {
  if (failed(a.expectUnneeded(1, "cos")) || failed(a.expectUnneeded(2, "sin")))
    return failure();
  a.set(0, a.make<RopeOp>(a.grad(), op.getCos(), a.neg(op.getSin())));
  return success();
}

/// The same decisions and the same factor.
LogicalResult dropoutRule(DropoutOp op, Adjoint &a) {
  a.set(0, a.make<DropoutOp>(a.grad(), op.getRng(), op.getP(), op.getOpId()));
  return success();
}

/// The branch that was taken gets all of it.
LogicalResult layerDropRule(LayerDropOp op, Adjoint &a) {
  if (failed(a.expectFirstResultOnly()))
    return failure();
  Value zero = a.constant(0.0, a.grad());
  a.set(0, a.select(op.getDropped(), a.grad(), zero));
  a.set(1, a.select(op.getDropped(), zero, a.grad()));
  return success();
}

} // namespace

void weft::attachLayerRules(MLIRContext *context) {
  attachRule<SoftmaxOp, softmaxRule>(context);
  attachRule<LogSoftmaxOp, logSoftmaxRule>(context);
  attachRule<LayerNormOp, layerNormRule>(context);
  attachRule<RmsNormOp, rmsNormRule>(context);
  attachRule<RopeOp, ropeRule>(context);
  attachRule<DropoutOp, dropoutRule>(context);
  attachRule<LayerDropOp, layerDropRule>(context);
}
