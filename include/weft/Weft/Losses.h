//===- Losses.h - The loss that a model is trained for ----------*- C++ -*-===//

#ifndef WEFT_WEFT_LOSSES_H
#define WEFT_WEFT_LOSSES_H

#include "weft/Abi/Names.h"
#include "weft/Weft/Weft.h"

namespace weft {

/// Name of the output that is trained.
constexpr llvm::StringLiteral kLossName = names::kLoss;
/// On a result of a model: its weight in the loss, a finite f64.
constexpr llvm::StringLiteral kLossWeightAttr = "weft.loss";

/// A result of a model that is a term of the loss.
struct LossTerm {
  unsigned result;
  double weight;
};

/// The terms of the loss: the output `loss` alone with weight 1, or the outputs
/// with a weight. Fails with an error on `model` if there is neither or both,
/// if a weight is not finite, or if a term is not a scalar of f32 (or, if
/// `allowF64`, of f64).
llvm::FailureOr<llvm::SmallVector<LossTerm>> findLosses(ProgramOp model,
                                                        bool allowF64 = false);

} // namespace weft

#endif // WEFT_WEFT_LOSSES_H
