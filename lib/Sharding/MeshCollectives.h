//===- MeshCollectives.h - What ranks tell each other -----------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_MESHCOLLECTIVES_H
#define WEFT_LIB_SHARDING_MESHCOLLECTIVES_H

#include "weft/Dist/Dist.h"

#include "mlir/IR/Builders.h"

namespace weft {

/// Types that values travel in; null: their own.
struct TravelTypes {
  mlir::Type reduced;  // gradients, rounded before their sums
  mlir::Type gathered; // parameters and copies that are wider
};

/// Makes the collectives of a mesh. Slices lie along its last axis; ranks that
/// differ in another one, the replicas, hold the same slices.
class MeshCollectives {
public:
  explicit MeshCollectives(dist::MeshOp mesh, TravelTypes types = {});

  /// Slices that a flat tensor has: the ranks of the last axis.
  int64_t countSlices() const { return slices; }
  int64_t countRanks() const { return slices * replicas; }
  mlir::RankedTensorType getSliceType(mlir::Type full) const;

  /// Whether ranks and their replicas can share the work of a flat tensor.
  bool canDivide(mlir::RankedTensorType full) const {
    return full.getNumElements() % countRanks() == 0;
  }
  /// The own slice of the mean of all ranks: of the sum over its axis, then
  /// over the replicas, each in the order of ranks.
  mlir::Value reduceMean(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value full) const;
  /// All slices, one after the other.
  dist::AllGatherOp gather(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value slice) const;
  /// The same of a parameter or a copy of one. A wider one is rounded to the
  /// gather type before it travels if `rounds`.
  mlir::Value gatherParam(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value slice, bool rounds,
                          mlir::StringAttr scope) const;
  dist::OwnSliceOp takeOwn(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value full) const;
  /// The slice that this rank owns, by its number.
  dist::RankOp tellSlice(mlir::OpBuilder &builder, mlir::Location loc) const;
  /// Numbers of slices become those of the whole; replicas have the same.
  dist::AllReduceOp join(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::ValueRange numbers,
                         llvm::ArrayRef<mlir::Attribute> reductions) const;
  /// Whether flags are set on one of the replicas of this rank, in one message.
  llvm::SmallVector<mlir::Value> askReplicas(mlir::OpBuilder &builder,
                                             mlir::Location loc,
                                             mlir::ValueRange flags) const;
  /// Sums of numbers of each rank, replicas included, in one message.
  mlir::ValueRange sumOverRanks(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::ValueRange numbers) const;

private:
  mlir::Value reduceAlong(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value full, int64_t ranks,
                          mlir::StringAttr axis) const;
  dist::AllGatherOp gatherAlong(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Value slice, int64_t ranks,
                                mlir::StringAttr axis) const;

  mlir::FlatSymbolRefAttr name;
  TravelTypes types;
  int64_t slices, replicas = 1;
  /// Of a mesh of two axes; null where all ranks take part.
  mlir::StringAttr sliceAxis, replicaAxis;
};

} // namespace weft

#endif // WEFT_LIB_SHARDING_MESHCOLLECTIVES_H
