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

  /// Removes the gradients of `value` and returns them in order. Gradients of
  /// slices that tile the value are one: joined instead of padded and added. It
  /// is built right after the last of them.
  llvm::SmallVector<mlir::Value, 2>
  takeTerms(mlir::Value value, mlir::OpBuilder &builder, mlir::Location loc);

  /// Their sum, from the first to the last, built at the builder's insertion
  /// point; null if there are none.
  mlir::Value take(mlir::Value value, mlir::OpBuilder &builder,
                   mlir::Location loc);

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> grads;
};

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_GRADIENTSUMS_H
