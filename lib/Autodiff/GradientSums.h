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

  /// The gradients that wait at `value`; they are not removed.
  llvm::ArrayRef<mlir::Value> pending(mlir::Value value) const;

  /// Removes the gradients of `value` and returns their sum, from the first to
  /// the last; null if there are none. Gradients of slices that tile the value
  /// are joined instead of padded and added.
  mlir::Value take(mlir::Value value, mlir::OpBuilder &builder,
                   mlir::Location loc);

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> grads;
};

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_GRADIENTSUMS_H
