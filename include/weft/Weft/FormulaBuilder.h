//===- FormulaBuilder.h - Formulas over weft ops ----------------*- C++ -*-===//
//
// Short names for building primitives. f16 and bf16 operands are widened, so
// that a formula rounds once, at its end.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_WEFT_FORMULABUILDER_H
#define WEFT_WEFT_FORMULABUILDER_H

#include "weft/Weft/Weft.h"

#include <limits>

namespace weft {

class FormulaBuilder {
public:
  FormulaBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : b(builder), loc(loc) {}

  mlir::OpBuilder &getBuilder() { return b; }

  mlir::Value add(mlir::Value x, mlir::Value y) { return make<AddOp>(x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) { return make<SubOp>(x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) { return make<MulOp>(x, y); }
  mlir::Value div(mlir::Value x, mlir::Value y) { return make<DivOp>(x, y); }
  mlir::Value max(mlir::Value x, mlir::Value y) { return make<MaxOp>(x, y); }
  mlir::Value min(mlir::Value x, mlir::Value y) { return make<MinOp>(x, y); }

  mlir::Value power(mlir::Value x, mlir::Value y) { return make<PowOp>(x, y); }

  mlir::Value logicalAnd(mlir::Value x, mlir::Value y) {
    return make<AndOp>(x, y);
  }
  mlir::Value logicalOr(mlir::Value x, mlir::Value y) {
    return make<OrOp>(x, y);
  }

  /// Whether x is neither infinite nor NaN.
  mlir::Value isFinite(mlir::Value x) {
    mlir::Value bound = constant(std::numeric_limits<double>::infinity(), x);
    return compare(Predicate::LT, unary<AbsOp>(x), bound);
  }

  template <typename Op> mlir::Value unary(mlir::Value x) {
    return Op::create(b, loc, x.getType(), x);
  }

  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return SelectOp::create(b, loc, condition, x, y);
  }

  mlir::Value compare(Predicate predicate, mlir::Value x, mlir::Value y) {
    return CompareOp::create(b, loc, predicate, x, y);
  }

  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape) {
    auto type = mlir::cast<mlir::RankedTensorType>(x.getType());
    if (type.getShape() == shape)
      return x;
    return ReshapeOp::create(b, loc, type.clone(shape), x);
  }

  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> shape) {
    auto type = mlir::cast<mlir::RankedTensorType>(x.getType());
    return BroadcastOp::create(b, loc, type.clone(shape), x);
  }

  /// A constant of several values at the start of the block, where all formulas
  /// share it: it takes memory and a command.
  mlir::Value mask(llvm::ArrayRef<bool> values, llvm::ArrayRef<int64_t> shape) {
    auto type = mlir::RankedTensorType::get(shape, b.getI1Type());
    mlir::ElementsAttr value = mlir::DenseElementsAttr::get(type, values);
    mlir::Block *block = b.getInsertionBlock();
    for (mlir::Operation &op : *block) {
      auto constant = llvm::dyn_cast<ConstantOp>(op);
      if (!constant)
        break;
      if (constant.getValue() == value)
        return constant;
    }
    mlir::OpBuilder start = mlir::OpBuilder::atBlockBegin(block);
    return ConstantOp::create(start, loc, type, value);
  }

  /// A scalar constant of the element type of `like`.
  mlir::Value constant(double value, mlir::Value like) {
    mlir::Type element = mlir::getElementTypeOrSelf(like.getType());
    return constant(b.getFloatAttr(element, value));
  }

  /// An i64 scalar.
  mlir::Value integer(int64_t value) {
    return constant(b.getI64IntegerAttr(value));
  }

  /// A scalar constant.
  mlir::Value integer(int64_t value, mlir::Type element) {
    auto type = mlir::RankedTensorType::get({}, element);
    mlir::TypedAttr number = b.getIntegerAttr(element, value);
    return ConstantOp::create(b, loc, type,
                              mlir::DenseElementsAttr::get(type, number));
  }

  /// The linear index over `dims` of each element of `shape` (weft.iota).
  mlir::Value iota(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> shape,
                   mlir::Type element) {
    return IotaOp::create(b, loc, mlir::RankedTensorType::get(shape, element),
                          dims);
  }

  /// Reduction that keeps the reduced dimensions with size 1.
  mlir::Value reduce(ReduceKind kind, mlir::Value x,
                     llvm::ArrayRef<int64_t> dims) {
    auto type = mlir::cast<mlir::RankedTensorType>(x.getType());
    llvm::SmallVector<int64_t> shape(type.getShape());
    for (int64_t dim : dims)
      shape[dim] = 1;
    return ReduceOp::create(b, loc, kind, x, dims, /*keepDims=*/true);
  }

  mlir::Value cast(mlir::Value x, mlir::Type element) {
    auto type = mlir::cast<mlir::RankedTensorType>(x.getType());
    if (type.getElementType() == element)
      return x;
    return CastOp::create(b, loc, type.clone(element), x);
  }

  /// `x` in f32, unless it is f64 already.
  mlir::Value widen(mlir::Value x) {
    bool wide = mlir::getElementTypeOrSelf(x.getType()).isF64();
    return wide ? x : cast(x, b.getF32Type());
  }

  /// `x` with the shape and the element type of `type`.
  mlir::Value finish(mlir::Value x, mlir::Type type) {
    x = cast(x, mlir::getElementTypeOrSelf(type));
    return x.getType() == type ? x
                               : ReshapeOp::create(b, loc, type, x).getResult();
  }

  /// 1 / (1 + e^-x)
  mlir::Value sigmoid(mlir::Value x) {
    mlir::Value one = constant(1.0, x);
    return div(one, add(one, unary<ExpOp>(unary<NegOp>(x))));
  }

  /// ln(1 + e^x) without overflow
  mlir::Value softplus(mlir::Value x) {
    mlir::Value small = unary<ExpOp>(unary<NegOp>(unary<AbsOp>(x)));
    return add(unary<ReluOp>(x), unary<Log1pOp>(small));
  }

protected:
  mlir::OpBuilder &b;
  mlir::Location loc;

private:
  mlir::Value constant(mlir::TypedAttr value) {
    auto type = mlir::RankedTensorType::get({}, value.getType());
    auto attr = mlir::DenseElementsAttr::get(type, mlir::Attribute(value));
    return ConstantOp::create(b, loc, type, attr);
  }

  template <typename Op> mlir::Value make(mlir::Value x, mlir::Value y) {
    auto left = mlir::cast<mlir::RankedTensorType>(x.getType());
    auto right = mlir::cast<mlir::RankedTensorType>(y.getType());
    auto shape = *broadcastShapes(left.getShape(), right.getShape());
    return Op::create(b, loc, left.clone(shape), x, y);
  }
};

/// The values that replace the results of an op.
using Values = mlir::FailureOr<llvm::SmallVector<mlir::Value>>;

/// The formula of an op as a function.
template <typename OpT, Values (*formula)(OpT, FormulaBuilder &)>
struct FormulaModel
    : CompositeOpInterface::ExternalModel<FormulaModel<OpT, formula>, OpT> {
  Values decompose(mlir::Operation *op, mlir::OpBuilder &builder) const {
    FormulaBuilder f(builder, op->getLoc());
    return formula(mlir::cast<OpT>(op), f);
  }
};

template <typename OpT, Values (*formula)(OpT, FormulaBuilder &)>
void addFormula(mlir::MLIRContext *context) {
  OpT::template attachInterface<FormulaModel<OpT, formula>>(*context);
}

} // namespace weft

#endif // WEFT_WEFT_FORMULABUILDER_H
