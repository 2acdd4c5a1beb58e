//===- DecomposeGradients.cpp - Adjoints of activations -------------------===//

#include "weft/Fusion/Passes.h"
#include "weft/Weft/FormulaBuilder.h"

#include <cmath>

using namespace mlir;
using namespace weft;

namespace {

/// Puts constants at the head of the block, not between the op's neighbours:
/// fusion looks for kernels that read the same values some ops back.
class GradientBuilder : public FormulaBuilder {
public:
  GradientBuilder(const FormulaBuilder &base, Operation *op)
      : FormulaBuilder(base), head(OpBuilder::atBlockBegin(op->getBlock())),
        constants(head, loc) {}

  Value constant(double value, Value like) {
    return constants.constant(value, like);
  }

private:
  OpBuilder head;
  FormulaBuilder constants;
};

} // namespace

/// One comparison in the operand's own type: nothing is rounded.
static Values decomposeReluGrad(ReluGradOp relu, FormulaBuilder &f) {
  Value x = relu.getOperand();
  Value zero = GradientBuilder(f, relu).constant(0.0, x);
  Value off = f.compare(Predicate::LE, x, zero);
  return SmallVector<Value>{f.select(off, zero, relu.getGrad())};
}

/// Phi(x) + x phi(x), the normal distribution and its density.
static Value getSlope(GradientBuilder &f, Value x) {
  Value half = f.constant(0.5, x);
  Value erf = f.unary<ErfOp>(f.mul(x, f.constant(M_SQRT1_2, x)));
  Value distribution = f.add(f.mul(erf, half), half);
  Value exponent = f.mul(f.mul(x, x), f.constant(-0.5, x));
  Value scale = f.constant(1 / std::sqrt(2 * M_PI), x);
  Value density = f.mul(f.unary<ExpOp>(exponent), scale);
  return f.add(distribution, f.mul(x, density));
}

/// With u = c (x + b x^3) and t = tanh(u):
/// 1/2 (1 + t) + 1/2 x (1 - t^2) c (1 + 3 b x^2).
/// Above |x| = 100 1 - t^2 is 0, and x^2 must not become infinite beside it.
static Value getTanhSlope(GradientBuilder &f, Value x) {
  constexpr double b = 0.044715;
  const double c = std::sqrt(2 / M_PI);
  Value one = f.constant(1, x), factor = f.constant(c, x);
  Value square = f.min(f.mul(x, x), f.constant(1e4, x));
  Value u = f.mul(x, f.add(f.mul(square, f.constant(c * b, x)), factor));
  Value t = f.unary<TanhOp>(u);
  Value uSlope = f.add(f.mul(square, f.constant(3 * b * c, x)), factor);
  Value tSlope = f.mul(f.sub(one, f.mul(t, t)), uSlope);
  Value level = f.add(t, one);
  Value sum = f.add(level, f.mul(x, tSlope));
  return f.mul(sum, f.constant(0.5, x));
}

static Values decomposeGeluGrad(GeluGradOp gelu, FormulaBuilder &base) {
  GradientBuilder f(base, gelu);
  Value x = f.widen(gelu.getOperand());
  Value slope = gelu.getApproximate() == GeluKind::Tanh ? getTanhSlope(f, x)
                                                        : getSlope(f, x);
  Value grad = f.mul(f.widen(gelu.getGrad()), slope);
  return SmallVector<Value>{f.finish(grad, gelu.getType())};
}

void weft::registerGradientFormulas(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    addFormula<ReluGradOp, decomposeReluGrad>(context);
    addFormula<GeluGradOp, decomposeGeluGrad>(context);
  });
}
