//===- DecomposeNorms.cpp - Formulas of norms and softmax -----------------===//

#include "FormulaBuilder.h"
#include "weft/Fusion/Passes.h"

using namespace mlir;
using namespace weft;

using Values = FailureOr<SmallVector<Value>>;

static int64_t lastDim(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank() - 1;
}

namespace {

struct SoftmaxModel
    : CompositeOpInterface::ExternalModel<SoftmaxModel, SoftmaxOp> {
  Values decompose(Operation *op, OpBuilder &builder) const {
    auto softmax = cast<SoftmaxOp>(op);
    FormulaBuilder f(builder, op->getLoc());
    int64_t axis = softmax.getAxis();
    Value x = f.widen(softmax.getOperand());
    Value e = f.unary<ExpOp>(f.sub(x, f.reduce(ReduceKind::Max, x, axis)));
    Value y = f.div(e, f.reduce(ReduceKind::Sum, e, axis));
    return SmallVector<Value>{f.finish(y, softmax.getType())};
  }
};

struct LogSoftmaxModel
    : CompositeOpInterface::ExternalModel<LogSoftmaxModel, LogSoftmaxOp> {
  Values decompose(Operation *op, OpBuilder &builder) const {
    auto softmax = cast<LogSoftmaxOp>(op);
    FormulaBuilder f(builder, op->getLoc());
    int64_t axis = softmax.getAxis();
    Value x = f.widen(softmax.getOperand());
    Value d = f.sub(x, f.reduce(ReduceKind::Max, x, axis));
    Value sum = f.reduce(ReduceKind::Sum, f.unary<ExpOp>(d), axis);
    Value y = f.sub(d, f.unary<LogOp>(sum));
    return SmallVector<Value>{f.finish(y, softmax.getType())};
  }
};

struct LayerNormModel
    : CompositeOpInterface::ExternalModel<LayerNormModel, LayerNormOp> {
  Values decompose(Operation *op, OpBuilder &builder) const {
    auto norm = cast<LayerNormOp>(op);
    FormulaBuilder f(builder, op->getLoc());
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
};

struct RmsNormModel
    : CompositeOpInterface::ExternalModel<RmsNormModel, RmsNormOp> {
  Values decompose(Operation *op, OpBuilder &builder) const {
    auto norm = cast<RmsNormOp>(op);
    FormulaBuilder f(builder, op->getLoc());
    Value x = f.widen(norm.getOperand());
    Value square = f.reduce(ReduceKind::Mean, f.mul(x, x), lastDim(x));
    Value eps = f.constant(norm.getEps().convertToDouble(), x);
    Value rstd = f.unary<RsqrtOp>(f.add(square, eps));
    Value y = f.mul(f.mul(x, rstd), f.widen(norm.getWeight()));
    return SmallVector<Value>{f.finish(y, norm.getResult().getType()),
                              f.finish(rstd, norm.getRstd().getType())};
  }
};

} // namespace

void weft::registerNormFormulas(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    SoftmaxOp::attachInterface<SoftmaxModel>(*context);
    LogSoftmaxOp::attachInterface<LogSoftmaxModel>(*context);
    LayerNormOp::attachInterface<LayerNormModel>(*context);
    RmsNormOp::attachInterface<RmsNormModel>(*context);
  });
}
