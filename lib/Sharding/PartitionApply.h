//===- PartitionApply.h - Gradients and norms of all ranks ------*- C++ -*-===//
//
// Of a gradient that all ranks hold, each reduces the slice that it owns; what
// reads it whole gathers it: every stage adds up gradients and norms in this
// one order.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_SHARDING_PARTITIONAPPLY_H
#define WEFT_LIB_SHARDING_PARTITIONAPPLY_H

#include "PartitionStates.h"
#include "RankPresence.h"

#include "llvm/ADT/MapVector.h"

namespace weft {

/// A gradient of all ranks: the slice that this rank owns of the mean.
struct ReducedGradient {
  ReadOp read;
  mlir::Value slice;
  /// What reads it whole for that; null: nothing does.
  mlir::Operation *reduction;
};

/// Numbers of one check of gradients.
struct GradientCheck {
  NormAndCheckOp op;
  mlir::Value norm, foundInf; // of all ranks
};

/// The program `apply` on one of several ranks.
class ApplyPartition {
public:
  ApplyPartition(ProgramOp program, const MeshCollectives &mesh)
      : program(program), mesh(mesh), builder(program.getContext()) {}

  /// Gradients and their norms become those of all ranks.
  llvm::LogicalResult reduce();
  /// By the read of each gradient.
  Slices getSlices();
  void gather();
  int64_t countBuckets() const { return gradients.size(); }

private:
  llvm::LogicalResult reduceGradients();
  llvm::LogicalResult checkSlices();
  llvm::FailureOr<mlir::Value> findSlice(NormAndCheckOp op, mlir::Value grad);
  llvm::FailureOr<GradientCheck> checkSlices(NormAndCheckOp op);
  void agree(llvm::MutableArrayRef<GradientCheck> checks,
             RankPresence &presence);
  void takeRoots(GradientCheck &check);

  ProgramOp program;
  const MeshCollectives &mesh;
  mlir::OpBuilder builder;
  /// In the order of the program, by their read.
  llvm::MapVector<mlir::Operation *, ReducedGradient> gradients;
};

} // namespace weft

#endif // WEFT_LIB_SHARDING_PARTITIONAPPLY_H
