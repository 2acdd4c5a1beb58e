//===- LowGradients.h - Gradients of low-precision copies -------*- C++ -*-===//
//
// Private to lib/Autodiff.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_LOWGRADIENTS_H
#define WEFT_LIB_AUTODIFF_LOWGRADIENTS_H

#include "BackwardOps.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace weft {

/// The values of `program` that hold a parameter in f16 or bf16: casts of what
/// is read from those of `isTrained`, and reshapes, transposes, slices and
/// broadcasts of them.
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

  /// `grad` in `element`, right after it. A product, a sum or a sum of table
  /// rows that no one else uses is computed without rounding, also behind ops
  /// that move elements; anything else is cast.
  mlir::Value widen(mlir::Value grad, mlir::Type element);

private:
  mlir::Value compute(mlir::Value grad, bool isPrivate);
  mlir::Value unrounded(mlir::Value value);

  mlir::OpBuilder &builder;
  BackwardOps &backward;
  /// A gradient that goes to several parameters is computed once.
  llvm::DenseMap<mlir::Value, mlir::Value> done;
};

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_LOWGRADIENTS_H
