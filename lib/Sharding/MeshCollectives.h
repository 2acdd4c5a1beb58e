//===- MeshCollectives.h - Collectives between ranks ------------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_MESHCOLLECTIVES_H
#define WEFT_LIB_SHARDING_MESHCOLLECTIVES_H

#include "weft/Dist/Dist.h"

#include "mlir/IR/Builders.h"

namespace weft {

/// Element types of the values in collectives. Null: the type of the value.
struct TravelTypes {
  mlir::Type reduced;  // of gradients, which are rounded before the sum
  mlir::Type gathered; // of parameters and copies that are wider
};

/// Builds the collectives of a mesh. Shards are along its last axis. Ranks that
/// differ in another axis are replicas and hold the same shards.
class MeshCollectives {
public:
  explicit MeshCollectives(dist::MeshOp mesh, TravelTypes types = {});

  int64_t countRanks() const { return shards * replicas; }
  mlir::RankedTensorType getShardType(mlir::Type full) const;

  /// Whether all ranks, replicas included, can divide the tensor equally.
  bool canDivide(mlir::RankedTensorType full) const {
    return full.getNumElements() % countRanks() == 0;
  }
  /// This rank's shard of the mean over all ranks. Sums over the shard axis,
  /// then over the replicas, each in rank order.
  mlir::Value reduceMean(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value full) const;
  /// Gathers all shards, concatenated in rank order.
  dist::AllGatherOp gather(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value shard) const;
  /// Gathers a parameter or a copy of one. A wider value is rounded to the
  /// gather type first if `rounds`.
  mlir::Value gatherParam(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value shard, bool rounds,
                          mlir::StringAttr scope) const;
  dist::OwnSliceOp takeOwn(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value full) const;
  /// The number of the shard that this rank owns.
  dist::RankOp getShardNumber(mlir::OpBuilder &builder,
                              mlir::Location loc) const;
  /// Combines numbers of all shards into numbers of the whole tensor. Replicas
  /// get the same result.
  dist::AllReduceOp join(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::ValueRange numbers,
                         llvm::ArrayRef<int64_t> reductions) const;
  /// Whether flags are set on any replica of this rank, in one message.
  llvm::SmallVector<mlir::Value> askReplicas(mlir::OpBuilder &builder,
                                             mlir::Location loc,
                                             mlir::ValueRange flags) const;
  /// Sums numbers over all ranks, replicas included, in one message.
  mlir::ValueRange sumOverRanks(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::ValueRange numbers) const;

private:
  mlir::Value reduceAlong(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value full, int64_t ranks,
                          mlir::StringAttr axis) const;
  dist::AllGatherOp gatherAlong(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Value shard, int64_t ranks,
                                mlir::StringAttr axis) const;

  mlir::FlatSymbolRefAttr name;
  TravelTypes types;
  int64_t shards, replicas = 1;
  /// Set for a mesh with two axes. Null: all ranks take part.
  mlir::StringAttr shardAxis, replicaAxis;
};

} // namespace weft

#endif // WEFT_LIB_SHARDING_MESHCOLLECTIVES_H
