//===- ActivationFormulas.cpp - Activations, rope and pair losses ---------===//

#include "FormulaBuilder.h"
#include "weft/Kernels/Passes.h"

#include <cmath>

using namespace mlir;

namespace weft {

using Values = llvm::FailureOr<llvm::SmallVector<Value>>;

namespace {

struct SigmoidModel
    : CompositeOpInterface::ExternalModel<SigmoidModel, SigmoidOp> {
  Values decompose(Operation *op, OpBuilder &builder) const {
    FormulaBuilder f(builder, op->getLoc());
    Value y = f.sigmoid(f.widen(op->getOperand(0)));
    return llvm::SmallVector<Value>{f.finish(y, op->getResult(0).getType())};
  }
};

struct SiluModel : CompositeOpInterface::ExternalModel<SiluModel, SiluOp> {
  Values decompose(Operation *op, OpBuilder &builder) const {
    FormulaBuilder f(builder, op->getLoc());
    Value x = f.widen(op->getOperand(0));
    Value y = f.mul(x, f.sigmoid(x));
    return llvm::SmallVector<Value>{f.finish(y, op->getResult(0).getType())};
  }
};

struct SoftplusModel
    : CompositeOpInterface::ExternalModel<SoftplusModel, SoftplusOp> {
  Values decompose(Operation *op, OpBuilder &builder) const {
    FormulaBuilder f(builder, op->getLoc());
    Value y = f.softplus(f.widen(op->getOperand(0)));
    return llvm::SmallVector<Value>{f.finish(y, op->getResult(0).getType())};
  }
};

struct GeluModel : CompositeOpInterface::ExternalModel<GeluModel, GeluOp> {
  Values decompose(Operation *op, OpBuilder &builder) const {
    FormulaBuilder f(builder, op->getLoc());
    Value x = f.widen(op->getOperand(0));
    Value inner = cast<GeluOp>(op).getApproximate() == GeluKind::Tanh
                      ? f.unary<TanhOp>(tanhArgument(f, x))
                      : f.unary<ErfOp>(f.mul(x, f.constant(std::sqrt(0.5), x)));
    Value half = f.mul(x, f.constant(0.5, x));
    Value y = f.mul(half, f.add(inner, f.constant(1.0, x)));
    return llvm::SmallVector<Value>{f.finish(y, op->getResult(0).getType())};
  }

  /// sqrt(2/pi) (x + 0.044715 x^3)
  static Value tanhArgument(FormulaBuilder &f, Value x) {
    Value cube = f.mul(f.mul(x, x), x);
    Value sum = f.add(x, f.mul(cube, f.constant(0.044715, x)));
    return f.mul(sum, f.constant(std::sqrt(2.0 / M_PI), x));
  }
};

struct RopeModel : CompositeOpInterface::ExternalModel<RopeModel, RopeOp> {
  Values decompose(Operation *op, OpBuilder &builder) const {
    auto rope = cast<RopeOp>(op);
    Location loc = op->getLoc();
    FormulaBuilder f(builder, loc);
    auto type = cast<RankedTensorType>(rope.getOperand().getType());
    llvm::SmallVector<int64_t> shape(type.getShape());
    shape[3] /= 2;
    auto half = [&](int64_t offset) -> Value {
      int64_t offsets[] = {0, 0, 0, offset}, strides[] = {1, 1, 1, 1};
      return f.widen(SliceOp::create(builder, loc, type.clone(shape),
                                     rope.getOperand(), offsets, shape,
                                     strides));
    };
    auto table = [&](Value value) -> Value { // [T, D/2] -> [T, 1, D/2]
      auto flat = cast<RankedTensorType>(value.getType());
      auto wide = flat.clone({flat.getDimSize(0), 1, flat.getDimSize(1)});
      return f.widen(ReshapeOp::create(builder, loc, wide, value));
    };
    Value a = half(0), b = half(shape[3]);
    Value cos = table(rope.getCos()), sin = table(rope.getSin());
    Type element = type.getElementType();
    Value first = f.cast(f.sub(f.mul(a, cos), f.mul(b, sin)), element);
    Value second = f.cast(f.add(f.mul(b, cos), f.mul(a, sin)), element);
    Value joined = ConcatOp::create(builder, loc, type,
                                    ValueRange{first, second}, /*dim=*/3);
    return llvm::SmallVector<Value>{joined};
  }
};

/// Mean or sum of the elements of `x`.
static Value total(FormulaBuilder &f, Value x, LossReduction reduction,
                   Type type) {
  llvm::SmallVector<int64_t> dims;
  for (int64_t i = 0; i <= cast<RankedTensorType>(x.getType()).getRank() - 1;
       ++i)
    dims.push_back(i);
  ReduceKind kind =
      reduction == LossReduction::Mean ? ReduceKind::Mean : ReduceKind::Sum;
  return f.finish(f.reduce(kind, x, dims), type);
}

struct MseModel : CompositeOpInterface::ExternalModel<MseModel, MseOp> {
  Values decompose(Operation *op, OpBuilder &builder) const {
    auto mse = cast<MseOp>(op);
    FormulaBuilder f(builder, op->getLoc());
    Value d = f.sub(f.widen(mse.getInput()), f.widen(mse.getTarget()));
    return llvm::SmallVector<Value>{
        total(f, f.mul(d, d), mse.getReduction(), mse.getLoss().getType())};
  }
};

struct BceModel : CompositeOpInterface::ExternalModel<BceModel, BceOp> {
  Values decompose(Operation *op, OpBuilder &builder) const {
    auto bce = cast<BceOp>(op);
    FormulaBuilder f(builder, op->getLoc());
    Value p = f.widen(bce.getInput()), t = f.widen(bce.getTarget());
    Value limit = f.constant(-100.0, p);
    Value hit = f.max(f.unary<LogOp>(p), limit);
    Value miss = f.max(f.unary<Log1pOp>(f.unary<NegOp>(p)), limit);
    Value y = f.sub(f.mul(f.sub(t, f.constant(1.0, t)), miss), f.mul(t, hit));
    return llvm::SmallVector<Value>{
        total(f, y, bce.getReduction(), bce.getLoss().getType())};
  }
};

struct BceWithLogitsModel
    : CompositeOpInterface::ExternalModel<BceWithLogitsModel, BceWithLogitsOp> {
  Values decompose(Operation *op, OpBuilder &builder) const {
    auto bce = cast<BceWithLogitsOp>(op);
    FormulaBuilder f(builder, op->getLoc());
    Value x = f.widen(bce.getInput()), t = f.widen(bce.getTarget());
    Value small = f.unary<ExpOp>(f.unary<NegOp>(f.unary<AbsOp>(x)));
    Value y =
        f.add(f.sub(f.unary<ReluOp>(x), f.mul(x, t)), f.unary<Log1pOp>(small));
    return llvm::SmallVector<Value>{
        total(f, y, bce.getReduction(), bce.getLoss().getType())};
  }
};

} // namespace

void registerActivationFormulas(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    SigmoidOp::attachInterface<SigmoidModel>(*context);
    SiluOp::attachInterface<SiluModel>(*context);
    SoftplusOp::attachInterface<SoftplusModel>(*context);
    GeluOp::attachInterface<GeluModel>(*context);
    RopeOp::attachInterface<RopeModel>(*context);
    MseOp::attachInterface<MseModel>(*context);
    BceOp::attachInterface<BceModel>(*context);
    BceWithLogitsOp::attachInterface<BceWithLogitsModel>(*context);
  });
}

void registerKernelsModels(DialectRegistry &registry) {
  registerScalarBodies(registry);
  registerNormFormulas(registry);
  registerActivationFormulas(registry);
}

} // namespace weft
