//===- PartitionApply.h - Gradients and norms of all ranks ------*- C++ -*-===//
//
// Each rank reduces its shard of a replicated gradient. Ops that read the full
// gradient read the gathered shards. Every stage adds gradients and norms in
// this one order.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_SHARDING_PARTITIONAPPLY_H
#define WEFT_LIB_SHARDING_PARTITIONAPPLY_H

#include "Partition.h"
#include "RankPresence.h"

#include "llvm/ADT/MapVector.h"

namespace weft {

/// A gradient and this rank's shard of its mean over all ranks.
struct ReducedGradient {
  ReadOp read;
  mlir::Value shard;
  /// The op that reads the full gradient to reduce it. Null if a micro-step has
  /// reduced it.
  mlir::Operation *reduction;
};

/// The results of one check of gradients.
struct ShardCheck {
  NormAndCheckOp op;
  mlir::Value norm, foundInf; // of this rank, then of all ranks
};

/// Partitions the program `apply`.
class ApplyPartition {
public:
  ApplyPartition(ProgramOp program, const MeshCollectives &mesh)
      : program(program), mesh(mesh), builder(program.getContext()) {}

  /// Replaces gradients and their norms by values of all ranks.
  llvm::LogicalResult reduce();
  /// The shards, by the read of each gradient.
  Shards getShards();
  void gather();
  int64_t countBuckets() const { return gradients.size(); }

private:
  llvm::LogicalResult reduceGradients();
  llvm::LogicalResult checkShards();
  llvm::FailureOr<mlir::Value> findShard(NormAndCheckOp op, mlir::Value grad);
  llvm::FailureOr<ShardCheck> checkShards(NormAndCheckOp op);
  void reduceChecks(llvm::MutableArrayRef<ShardCheck> checks,
                    RankPresence &presence);
  void takeRoots(ShardCheck &check);

  ProgramOp program;
  const MeshCollectives &mesh;
  mlir::OpBuilder builder;
  /// In program order, by their read.
  llvm::MapVector<mlir::Operation *, ReducedGradient> gradients;
};

} // namespace weft

#endif // WEFT_LIB_SHARDING_PARTITIONAPPLY_H
