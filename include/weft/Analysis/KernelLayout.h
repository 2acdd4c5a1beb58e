//===- KernelLayout.h - The loops of a generated kernel ---------*- C++ -*-===//
//
// How a kernel walks its iteration space, what it computes in which pass over
// the data, and how its range is cut for threads. Shared by fusion (which
// records range and in-place facts on the kernel) and by the lowering.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_KERNELLAYOUT_H
#define WEFT_ANALYSIS_KERNELLAYOUT_H

#include "weft/Analysis/KernelSpace.h"

#include <vector>

namespace weft {

/// Lanes of every vector in generated code, on any target: reduction trees
/// depend on it, so it is part of what a kernel computes.
inline constexpr int64_t kLanes = 16;

enum class KernelSchedule {
  Flat,   // one dimension; the range counts elements
  Rows,   // the range counts rows; each row takes one or more passes
  Columns // the range counts tiles of columns; rows are a loop inside
};

/// What a dimension of the space is in the loop nest.
enum class DimRole { Outer, Inner, Lane };

/// How often a value changes: per element of the range, per step of the inner
/// loops, per lane.
enum class ValueDepth { Outer = 0, Inner = 1, Lane = 2 };

/// Depth of what is read or written there, by the role of each dimension.
ValueDepth getDepth(llvm::ArrayRef<DimRole> roles, const SpaceAccess &access);

/// One pass over the inner loops.
struct KernelPhase {
  llvm::SmallVector<mlir::Operation *> outerOps; // evaluated before the loops
  llvm::SmallVector<mlir::Operation *> ops;      // evaluated inside
  llvm::SmallVector<ReduceOp> reduces;
  llvm::SmallVector<unsigned> stores;   // outputs written inside
  llvm::SmallVector<mlir::Value> saves; // values kept for later phases
  llvm::DenseSet<mlir::Value> restored; // values kept by earlier phases
};

class KernelLayout {
public:
  /// The layout of an outlined kernel; fails with an error on the kernel if its
  /// body does not form one loop nest.
  static llvm::FailureOr<KernelLayout> get(KernelOp kernel);

  /// Whether the members `outputs` can all be written by one kernel over
  /// `space`; otherwise the offenders are put in `rejected`.
  static bool canWrite(const KernelSpace &space,
                       llvm::ArrayRef<mlir::Value> outputs,
                       llvm::SmallVectorImpl<mlir::Value> &rejected);

  const KernelSpace &getSpace() const { return space; }
  KernelSchedule getSchedule() const { return schedule; }
  DimRole getRole(unsigned dim) const { return roles[dim]; }
  llvm::ArrayRef<mlir::Value> getOutputs() const { return outputs; }
  llvm::ArrayRef<KernelPhase> getPhases() const { return phases; }
  ValueDepth getDepth(mlir::Value value) const { return depths.lookup(value); }
  ValueDepth getDepth(const SpaceAccess &access) const {
    return weft::getDepth(roles, access);
  }
  /// Whether output `index` is written once per range element (rows), or after
  /// the loop over the rows (columns), rather than inside the loops.
  bool isOuterOutput(unsigned index) const;

  int64_t getCount(DimRole role) const;
  bool hasLane() const { return !roles.empty(); }
  int64_t getLaneSize() const {
    return hasLane() ? space.getSizes().back() : 1;
  }
  /// Columns of one element of the range (column kernels).
  int64_t getTile() const { return tile; }
  int64_t getExtent() const { return extent; }
  int64_t getGrain() const { return grain; }
  /// Inputs whose buffer output `index` may overwrite.
  llvm::SmallVector<int64_t> getInPlaceInputs(KernelOp kernel,
                                              unsigned index) const;

private:
  void chooseSchedule();
  void setRange();
  void findDepths(KernelOp kernel);
  void findPhases(KernelOp kernel);
  void placeOuterOps(KernelOp kernel);
  void fillPhase(unsigned phase, KernelOp kernel);
  bool isHeavy(mlir::Value value) const { return heavy.contains(value); }

  KernelSpace space;
  KernelSchedule schedule = KernelSchedule::Flat;
  llvm::SmallVector<DimRole> roles;
  llvm::SmallVector<mlir::Value> outputs;
  std::vector<KernelPhase> phases;
  llvm::DenseMap<mlir::Value, ValueDepth> depths;
  llvm::DenseMap<mlir::Value, unsigned> ready; // phase in which it is known
  llvm::DenseSet<mlir::Value> heavy;
  int64_t tile = 0, extent = 0, grain = 1, savedBytes = 0;
};

} // namespace weft

#endif // WEFT_ANALYSIS_KERNELLAYOUT_H
