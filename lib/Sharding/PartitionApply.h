//===- PartitionApply.h - Gradients and norms of all ranks ------*- C++ -*-===//
//
// Each rank reduces its shard of a replicated gradient. Ops that read the full
// gradient read the gathered shards. Every stage adds gradients and norms in
// this one order.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_SHARDING_PARTITIONAPPLY_H
#define WEFT_LIB_SHARDING_PARTITIONAPPLY_H

#include "PassUses.h"
#include "SlicedStates.h"

#include "llvm/ADT/MapVector.h"

namespace weft {

/// The shard of each full value. Elementwise ops compute shards from shards.
using Slices = llvm::DenseMap<mlir::Value, mlir::Value>;

/// Makes a program read and write shards. Ops that need a full state read the
/// value that is gathered right before the first of them. States that `reshard`
/// frees are gathered once for the forward pass and again for the backward
/// pass. The first micro-step writes the values of `states.kept`, and later
/// micro-steps read them. `known` are shards of other values of the program.
void partitionStates(ProgramOp program, const MeshCollectives &mesh,
                     const SlicedStates &states, Slices known,
                     const Reshard &reshard);

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

/// A gradient and this rank's shard of its mean over all ranks.
struct ReducedGradient {
  ReadOp read;
  mlir::Value slice;
  /// The op that reads the full gradient to reduce it. Null if a micro-step has
  /// reduced it.
  mlir::Operation *reduction;
};

/// The results of one check of gradients.
struct GradientCheck {
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
  Slices getSlices();
  void gather();
  int64_t countBuckets() const { return gradients.size(); }

private:
  llvm::LogicalResult reduceGradients();
  llvm::LogicalResult checkSlices();
  llvm::FailureOr<mlir::Value> findSlice(NormAndCheckOp op, mlir::Value grad);
  llvm::FailureOr<GradientCheck> checkSlices(NormAndCheckOp op);
  void reduceChecks(llvm::MutableArrayRef<GradientCheck> checks,
                    RankPresence &presence);
  void takeRoots(GradientCheck &check);

  ProgramOp program;
  const MeshCollectives &mesh;
  mlir::OpBuilder builder;
  /// In program order, by their read.
  llvm::MapVector<mlir::Operation *, ReducedGradient> gradients;
};

} // namespace weft

#endif // WEFT_LIB_SHARDING_PARTITIONAPPLY_H
