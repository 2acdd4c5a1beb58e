//===- Head.h - The product of logits and its readers -----------*- C++ -*-===//
//-*-===//

#ifndef WEFT_LIB_FUSION_HEAD_H
#define WEFT_LIB_FUSION_HEAD_H

#include "weft/Weft/Weft.h"

namespace weft {

/// The ops behind `place` in its block that compute `value`, in program order.
/// Fails if one of them depends on `place` or has an effect.
llvm::FailureOr<llvm::SmallVector<mlir::Operation *>>
findOpsBehind(mlir::Operation *place, mlir::Value value);

/// A product of logits, the losses of its rows, and their adjoints.
struct Head {
  MatmulOp product;
  llvm::SmallVector<CountedMeanOpInterface> losses; // in program order
  // Null in forward programs, or where nothing needs the gradient.
  CrossEntropyGradOp adjoint;
  MatmulOp toInput, toWeight;  // products with the gradient of the logits
  bool gradientIsLeft = false; // in `toWeight`
  /// The op that adds the weight's gradient to an accumulator, and nothing
  /// else reads the gradient.
  AccumulateOp accumulate;
  /// Ops that have to move in front of the losses, in program order.
  llvm::SmallVector<mlir::Operation *> before;
  /// Ops from the product to the products of the adjoint, the last ones first.
  llvm::SmallVector<mlir::Operation *> between;

  /// The head of a loss. Fails with an error on the loss if its rows cannot be
  /// computed in chunks.
  static llvm::FailureOr<Head> find(CrossEntropyOp loss);

  /// The loss with the adjoint, or the first one.
  CrossEntropyOp getLoss();
};

} // namespace weft

#endif // WEFT_LIB_FUSION_HEAD_H
