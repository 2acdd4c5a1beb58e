//===- GradientSums.h - Gradients waiting at a value ------------*- C++ -*-===//
//
// Private to lib/Autodiff.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_GRADIENTSUMS_H
#define WEFT_LIB_AUTODIFF_GRADIENTSUMS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

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

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_GRADIENTSUMS_H
