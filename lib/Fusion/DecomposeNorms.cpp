//===- DecomposeNorms.cpp - Formulas of norms and softmax -----------------===//

#include "weft/Fusion/Passes.h"
#include "weft/Weft/FormulaBuilder.h"

using namespace mlir;
using namespace weft;

static int64_t lastDim(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank() - 1;
}

static Values decomposeSoftmax(SoftmaxOp softmax, FormulaBuilder &f) {
  int64_t axis = softmax.getAxis();
  Value x = f.widen(softmax.getOperand());
  Value e = f.unary<ExpOp>(f.sub(x, f.reduce(ReduceKind::Max, x, axis)));
  Value y = f.div(e, f.reduce(ReduceKind::Sum, e, axis));
  return SmallVector<Value>{f.finish(y, softmax.getType())};
}

static Values decomposeLogSoftmax(LogSoftmaxOp softmax, FormulaBuilder &f) {
  int64_t axis = softmax.getAxis();
  Value x = f.widen(softmax.getOperand());
  Value d = f.sub(x, f.reduce(ReduceKind::Max, x, axis));
  Value sum = f.reduce(ReduceKind::Sum, f.unary<ExpOp>(d), axis);
  Value y = f.sub(d, f.unary<LogOp>(sum));
  return SmallVector<Value>{f.finish(y, softmax.getType())};
}

static Values decomposeLayerNorm(LayerNormOp norm, FormulaBuilder &f) {
  Value x = f.widen(norm.getOperand());
  int64_t axis = lastDim(x);
  Value mean = f.reduce(ReduceKind::Mean, x, axis);
  Value d = f.sub(x, mean);
  Value variance = f.reduce(ReduceKind::Mean, f.mul(d, d), axis);
  Value eps = f.constant(norm.getEps().convertToDouble(), x);
  Value rstd = f.unary<RsqrtOp>(f.add(variance, eps));
  Value y = f.add(f.mul(f.mul(d, rstd), f.widen(norm.getWeight())),
                  f.widen(norm.getBias()));
  return SmallVector<Value>{f.finish(y, norm.getResult().getType()),
                            f.finish(mean, norm.getMean().getType()),
                            f.finish(rstd, norm.getRstd().getType())};
}

static Values decomposeRmsNorm(RmsNormOp norm, FormulaBuilder &f) {
  Value x = f.widen(norm.getOperand());
  Value square = f.reduce(ReduceKind::Mean, f.mul(x, x), lastDim(x));
  Value eps = f.constant(norm.getEps().convertToDouble(), x);
  Value rstd = f.unary<RsqrtOp>(f.add(square, eps));
  Value y = f.mul(f.mul(x, rstd), f.widen(norm.getWeight()));
  return SmallVector<Value>{f.finish(y, norm.getResult().getType()),
                            f.finish(rstd, norm.getRstd().getType())};
}

void weft::registerNormFormulas(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    addFormula<SoftmaxOp, decomposeSoftmax>(context);
    addFormula<LogSoftmaxOp, decomposeLogSoftmax>(context);
    addFormula<LayerNormOp, decomposeLayerNorm>(context);
    addFormula<RmsNormOp, decomposeRmsNorm>(context);
  });
}
