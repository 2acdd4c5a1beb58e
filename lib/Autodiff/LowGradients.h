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

#endif // WEFT_LIB_AUTODIFF_LOWGRADIENTS_H
