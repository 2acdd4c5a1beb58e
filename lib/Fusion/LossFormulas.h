//===- LossFormulas.h - Values of rows with a target class ------*- C++ -*-===//
//
// The logit of a row's target is the largest of its logits where the class is
// the target: it is found in the pass over the row that finds the largest of
// all, and nothing is gathered.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_FUSION_LOSSFORMULAS_H
#define WEFT_LIB_FUSION_LOSSFORMULAS_H

#include "weft/Weft/FormulaBuilder.h"

#include "llvm/ADT/Sequence.h"

#include <limits>

namespace weft {

/// Base of the formulas of rows with a target class. Per-row values have the
/// class dimension with size 1 or, if `wide`, broadcast to its full size.
template <typename OpT> class TargetFormula {
public:
  TargetFormula(OpT op, mlir::OpBuilder &builder, bool wide)
      : op(op), builder(builder), f(builder, op.getLoc()),
        shape(getShape(op.getLogits())), rows(shape) {
    rows.back() = 1;
    x = f.widen(op.getLogits());
    targets = f.reshape(op.getTargets(), rows);
    int64_t ignored = static_cast<int64_t>(op.getIgnoreIndex());
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (shape.back() > kMost || ignored > kMost || ignored < -kMost)
      targets = f.cast(targets, builder.getI64Type());
    if (wide)
      targets = f.broadcast(targets, shape);
  }

protected:
  mlir::Type getIndexType() {
    return mlir::getElementTypeOrSelf(targets.getType());
  }
  int64_t getAxis() { return shape.size() - 1; }
  mlir::Value zero() { return f.constant(0.0, x); }
  mlir::Value sumRow(mlir::Value value) {
    return f.reduce(ReduceKind::Sum, value, getAxis());
  }

  mlir::Value sumAll(mlir::Value value) {
    return f.reduce(ReduceKind::Sum, value,
                    llvm::to_vector(llvm::seq<int64_t>(0, rows.size())));
  }

  /// Where the class compares with the row's target as `predicate` says.
  mlir::Value compareClass(Predicate predicate) {
    mlir::Value classes = f.iota({getAxis()}, shape, getIndexType());
    return f.compare(predicate, classes, targets);
  }
  mlir::Value isTarget() { return compareClass(Predicate::EQ); }
  /// The logit of the row's target.
  mlir::Value targetLogit(mlir::Value isTarget) {
    mlir::Value least = f.constant(-std::numeric_limits<double>::infinity(), x);
    return f.reduce(ReduceKind::Max, f.select(isTarget, x, least), getAxis());
  }
  mlir::Value isCounted() {
    mlir::Value ignored =
        f.integer(static_cast<int64_t>(op.getIgnoreIndex()), getIndexType());
    return f.compare(Predicate::NE, targets, ignored);
  }
  /// `value` in rows that count, NaN for targets that are no class, else 0.
  mlir::Value ofCounted(mlir::Value value) {
    mlir::Value first = f.integer(0, getIndexType());
    mlir::Value end = f.integer(shape.back(), getIndexType());
    mlir::Value isClass = AndOp::create(
        builder, op.getLoc(), f.compare(Predicate::GE, targets, first),
        f.compare(Predicate::LT, targets, end));
    mlir::Value nan = f.constant(std::numeric_limits<double>::quiet_NaN(), x);
    return f.select(isCounted(), f.select(isClass, value, nan), zero());
  }
  /// The mean of the per-row values, or their sum; and what divides it. Targets
  /// count `weights`, or 1.
  std::pair<mlir::Value, mlir::Value> reduceCounted(mlir::Value value,
                                                    mlir::Value weights) {
    mlir::Value total = sumAll(ofCounted(value));
    mlir::Value denominator = f.constant(1.0, x);
    if (op.getReduction() != LossReduction::Mean)
      return {total, denominator};
    mlir::Value counts = weights ? weights : denominator;
    denominator = sumAll(f.select(isCounted(), counts, zero()));
    return {f.div(total, denominator), denominator};
  }

  OpT op;
  mlir::OpBuilder &builder;
  FormulaBuilder f;
  llvm::SmallVector<int64_t> shape, rows;
  mlir::Value x, targets;
};

} // namespace weft

#endif // WEFT_LIB_FUSION_LOSSFORMULAS_H
