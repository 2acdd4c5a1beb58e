//===- DecomposeActivations.cpp - Activations, rope and pair losses -------===//

#include "Fusion.h"

#include "weft/Fusion/Passes.h"
#include "weft/Weft/FormulaBuilder.h"

#include <cmath>

using namespace mlir;
using namespace weft;

static Values decomposeSigmoid(SigmoidOp op, FormulaBuilder &f) {
  Value y = f.sigmoid(f.widen(op.getOperand()));
  return SmallVector<Value>{f.finish(y, op.getType())};
}

static Values decomposeSilu(SiluOp op, FormulaBuilder &f) {
  Value x = f.widen(op.getOperand());
  Value y = f.mul(x, f.sigmoid(x));
  return SmallVector<Value>{f.finish(y, op.getType())};
}

static Values decomposeSoftplus(SoftplusOp op, FormulaBuilder &f) {
  Value y = f.softplus(f.widen(op.getOperand()));
  return SmallVector<Value>{f.finish(y, op.getType())};
}

/// sqrt(2/pi) (x + 0.044715 x^3)
static Value tanhArgument(FormulaBuilder &f, Value x) {
  Value cube = f.mul(f.mul(x, x), x);
  Value sum = f.add(x, f.mul(cube, f.constant(0.044715, x)));
  return f.mul(sum, f.constant(std::sqrt(2.0 / M_PI), x));
}

static Values decomposeGelu(GeluOp op, FormulaBuilder &f) {
  Value x = f.widen(op.getOperand());
  Value inner = op.getApproximate() == GeluKind::Tanh
                    ? f.unary<TanhOp>(tanhArgument(f, x))
                    : f.unary<ErfOp>(f.mul(x, f.constant(std::sqrt(0.5), x)));
  Value half = f.mul(x, f.constant(0.5, x));
  Value y = f.mul(half, f.add(inner, f.constant(1.0, x)));
  return SmallVector<Value>{f.finish(y, op.getType())};
}

/// With the halves of a head as a dimension of its own, one kernel writes both
/// in place: a P + b Q with P = (cos, sin) and Q = (-sin, cos). All values have
/// the shape of the result, so that they fit one loop nest. The result is
/// bitwise equal to a cos - b sin and b cos + a sin. An operand that was
/// widened from f16 or bf16 is read as it was: a kernel reads each of its
/// elements twice, so that a widened copy would be stored.
static Values decomposeRope(RopeOp rope, FormulaBuilder &f) {
  SmallVector<int64_t> shape(getShape(rope.getOperand()));
  shape.back() /= 2;
  shape.insert(shape.end() - 1, 2);
  Operation *cast = rope.getOperand().getDefiningOp();
  const bool isWidened = cast && isWideningCast(cast);
  Value x =
      f.reshape(isWidened ? cast->getOperand(0) : rope.getOperand(), shape);
  auto half = [&](int64_t index) {
    SmallVector<int64_t> offsets(5, 0), sizes(shape), strides(5, 1);
    offsets[3] = index;
    sizes[3] = 1;
    Value part = SliceOp::create(f.getBuilder(), rope.getLoc(), x, offsets,
                                 sizes, strides);
    return f.widen(f.broadcast(part, shape));
  };
  auto table = [&](Value value) { // [T, D/2]
    Value rows = f.reshape(value, {shape[1], 1, 1, shape[4]});
    return f.widen(f.broadcast(rows, shape));
  };
  Value cos = table(rope.getCos()), sin = table(rope.getSin());
  Value isFirst = f.mask({true, false}, {2, 1});
  Value p = f.select(isFirst, cos, sin);
  Value q = f.select(isFirst, f.unary<NegOp>(sin), cos);
  Value y = f.add(f.mul(half(0), p), f.mul(half(1), q));
  return SmallVector<Value>{f.finish(y, rope.getType())};
}

/// Mean or sum of the elements of `x`.
static Value total(FormulaBuilder &f, Value x, LossReduction reduction,
                   Type type) {
  SmallVector<int64_t> dims;
  for (int64_t i = 0; i <= cast<RankedTensorType>(x.getType()).getRank() - 1;
       ++i)
    dims.push_back(i);
  ReduceKind kind =
      reduction == LossReduction::Mean ? ReduceKind::Mean : ReduceKind::Sum;
  return f.finish(f.reduce(kind, x, dims), type);
}

static Values decomposeMse(MseOp mse, FormulaBuilder &f) {
  Value d = f.sub(f.widen(mse.getInput()), f.widen(mse.getTarget()));
  return SmallVector<Value>{
      total(f, f.mul(d, d), mse.getReduction(), mse.getLoss().getType())};
}

static Values decomposeBce(BceOp bce, FormulaBuilder &f) {
  Value p = f.widen(bce.getInput()), t = f.widen(bce.getTarget());
  Value limit = f.constant(-100.0, p);
  Value hit = f.max(f.unary<LogOp>(p), limit);
  Value miss = f.max(f.unary<Log1pOp>(f.unary<NegOp>(p)), limit);
  Value y = f.sub(f.mul(f.sub(t, f.constant(1.0, t)), miss), f.mul(t, hit));
  return SmallVector<Value>{
      total(f, y, bce.getReduction(), bce.getLoss().getType())};
}

static Values decomposeBceWithLogits(BceWithLogitsOp bce, FormulaBuilder &f) {
  Value x = f.widen(bce.getInput()), t = f.widen(bce.getTarget());
  Value small = f.unary<ExpOp>(f.unary<NegOp>(f.unary<AbsOp>(x)));
  Value y =
      f.add(f.sub(f.unary<ReluOp>(x), f.mul(x, t)), f.unary<Log1pOp>(small));
  return SmallVector<Value>{
      total(f, y, bce.getReduction(), bce.getLoss().getType())};
}

void weft::registerActivationFormulas(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    addFormula<SigmoidOp, decomposeSigmoid>(context);
    addFormula<SiluOp, decomposeSilu>(context);
    addFormula<SoftplusOp, decomposeSoftplus>(context);
    addFormula<GeluOp, decomposeGelu>(context);
    addFormula<RopeOp, decomposeRope>(context);
    addFormula<MseOp, decomposeMse>(context);
    addFormula<BceOp, decomposeBce>(context);
    addFormula<BceWithLogitsOp, decomposeBceWithLogits>(context);
  });
}

void weft::registerFusionModels(DialectRegistry &registry) {
  registerScalarBodies(registry);
  registerNormFormulas(registry);
  registerActivationFormulas(registry);
  registerGradientFormulas(registry);
  registerOptimizerFormulas(registry);
  registerClipFormula(registry);
  registerGradientNormFormulas(registry);
  registerScalerFormulas(registry);
  registerPhiloxBody(registry);
  registerRandomFormulas(registry);
  registerLossFormulas(registry);
}
