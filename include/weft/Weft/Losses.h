//===- Losses.h - The losses and metrics of a model -------------*- C++ -*-===//

#ifndef WEFT_WEFT_LOSSES_H
#define WEFT_WEFT_LOSSES_H

#include "weft/Abi/Names.h"
#include "weft/Weft/Weft.h"

namespace weft {

/// Name of the output that is trained.
constexpr llvm::StringLiteral kLossName = names::kLoss;
/// On a result of a model: its weight in the loss, an f64 that is finite and
/// not 0 in f32.
constexpr llvm::StringLiteral kLossWeightAttr = "weft.loss";

/// A result of a model that is a term of the loss.
struct LossTerm {
  unsigned result;
  double weight;
};

/// The results of a model that its programs report.
struct ModelOutputs {
  /// The output `loss` alone with weight 1, or the outputs with a weight.
  llvm::SmallVector<LossTerm> losses;
  /// The results with weft.metric. The loss does not depend on them.
  llvm::SmallVector<unsigned> metrics;
};

/// Fails with an error on `model` if it has no loss, or both forms of losses;
/// if a weight is 0 or not finite; if a metric is also a loss or has the name
/// of a field of every metrics file; or if one of them is not a scalar of f32
/// (or, if `allowF64`, of f64).
llvm::FailureOr<ModelOutputs> findModelOutputs(ProgramOp model,
                                               bool allowF64 = false);

/// The names of the results of `program` with weft.metric, in their order.
llvm::SmallVector<llvm::StringRef> getMetricNames(ProgramOp program);

} // namespace weft

#endif // WEFT_WEFT_LOSSES_H
