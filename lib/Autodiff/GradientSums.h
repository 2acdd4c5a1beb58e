//===- GradientSums.h - Gradients waiting at a value ------------*- C++ -*-===//
//
// Private to lib/Autodiff.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_GRADIENTSUMS_H
#define WEFT_LIB_AUTODIFF_GRADIENTSUMS_H

#include "BackwardOps.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace weft {

/// The gradients that the uses of each value have sent, in order of arrival:
/// the last use of the program first, of one op the first operand first.
class GradientSums {
public:
  void add(mlir::Value value, mlir::Value grad);

  /// Removes the gradients of `value` and returns them in order.
  llvm::SmallVector<mlir::Value, 2> takeTerms(mlir::Value value);

  /// The sum of `terms` from the first to the last, built at the builder's
  /// insertion point; null if there are none.
  static mlir::Value sum(llvm::ArrayRef<mlir::Value> terms,
                         mlir::OpBuilder &builder, mlir::Location loc);

  /// The last op that defines one of `values`, which are of one block; null if
  /// none does.
  static mlir::Operation *lastOp(llvm::ArrayRef<mlir::Value> values);

  /// Removes the gradients of `value`, joins them and returns their sum.
  mlir::Value take(mlir::Value value, mlir::OpBuilder &builder,
                   mlir::Location loc);

  /// Gradients of slices that tile a value are one: joined instead of padded
  /// and added. It is built right after the last of them.
  static llvm::SmallVector<mlir::Value, 2>
  join(llvm::SmallVector<mlir::Value, 2> terms, mlir::OpBuilder &builder,
       mlir::Location loc);

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> grads;
};

/// The values of `program` that hold a parameter of `isTrained` in f16 or bf16:
/// low-precision reads of the parameter, casts of reads, and ops that move
/// elements of such values.
llvm::DenseSet<mlir::Value>
findLowCopies(ProgramOp program,
              llvm::function_ref<bool(mlir::StringAttr)> isTrained);

/// The element type of all uses of a value that is only cast to one
/// low-precision type, or null.
mlir::Type onlyLowUse(mlir::Value value);

/// Builds the f32 forms of low-precision gradients.
class GradientWidener {
public:
  GradientWidener(mlir::OpBuilder &builder, BackwardOps &backward)
      : builder(builder), backward(backward) {}

  /// `grad` in `element`, built right after it. A gradient without other users
  /// is recomputed through WideGradientOpInterface, also if ops that move
  /// elements follow. Other gradients are cast. Fails with an error on an op
  /// that does not answer the interface.
  llvm::FailureOr<mlir::Value> widen(mlir::Value grad, mlir::Type element);

private:
  llvm::FailureOr<mlir::Value> compute(mlir::Value grad, bool isPrivate);
  mlir::Value unrounded(mlir::Value value);
  mlir::OpOperand *findMoved(mlir::Operation *op) const;
  mlir::Value moveWide(mlir::OpOperand &moved, mlir::Value wide);

  mlir::OpBuilder &builder;
  BackwardOps &backward;
  /// A gradient that goes to several parameters is computed once.
  llvm::DenseMap<mlir::Value, mlir::Value> done;
};

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_GRADIENTSUMS_H
