//===- RankPresence.h - Gradients that only some ranks have -----*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_RANKPRESENCE_H
#define WEFT_LIB_SHARDING_RANKPRESENCE_H

#include "MeshCollectives.h"

#include "weft/Weft/Weft.h"

namespace weft {

/// What asks in `apply` whether this rank had gradients of parameters in the
/// step: comparisons of states of kind presence.
class RankPresence {
public:
  explicit RankPresence(ProgramOp apply);

  bool isEmpty() const { return reads.empty(); }
  /// Fails with an error where something else reads presence, or what asks is
  /// needed above `message`, which tells all ranks.
  llvm::LogicalResult verify(mlir::Operation *message);
  /// The answers, at the insertion point: of one rank, or of its replicas.
  llvm::SmallVector<mlir::Value> ask(mlir::OpBuilder &builder,
                                     const MeshCollectives &mesh) const;
  /// Takes the answers of all ranks instead.
  void replace(mlir::ValueRange answers);

private:
  llvm::SmallVector<ReadOp> reads;
  llvm::SmallVector<CompareOp> questions;
};

} // namespace weft

#endif // WEFT_LIB_SHARDING_RANKPRESENCE_H
