//===- RankPresence.h - Gradients that only some ranks have -----*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_RANKPRESENCE_H
#define WEFT_LIB_SHARDING_RANKPRESENCE_H

#include "MeshCollectives.h"

#include "weft/Weft/Weft.h"

namespace weft {

/// The ops of `apply` that test whether this rank had gradients of parameters
/// in the step: comparisons of states of kind presence.
class RankPresence {
public:
  explicit RankPresence(ProgramOp apply);

  bool isEmpty() const { return reads.empty(); }
  /// Fails with an error if other ops read presence, or if a result is used
  /// above `message`, which combines the answers of all ranks.
  llvm::LogicalResult verify(mlir::Operation *message);
  /// Builds the answers at the insertion point: of this rank, or of its
  /// replicas.
  llvm::SmallVector<mlir::Value> ask(mlir::OpBuilder &builder,
                                     const MeshCollectives &mesh) const;
  /// Replaces the results by the answers of all ranks.
  void replace(mlir::ValueRange answers);

private:
  llvm::SmallVector<ReadOp> reads;
  llvm::SmallVector<CompareOp> questions;
};

} // namespace weft

#endif // WEFT_LIB_SHARDING_RANKPRESENCE_H
