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
/// is read from those of `isTrained`, and what moves their elements.
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

  /// `grad` in `element`, right after it. What no one else uses is computed
  /// again as its op says (WideGradientOpInterface), also behind ops that move
  /// elements; anything else is cast. Fails with an error on an op that does
  /// not answer.
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
