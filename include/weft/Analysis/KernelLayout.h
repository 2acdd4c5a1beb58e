//===- KernelLayout.h - The loops of a generated kernel ---------*- C++ -*-===//
//
// Assigns the ops of a kernel to passes over its data. Shared by fusion (which
// records shape and in-place facts on the kernel) and by the lowering.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_KERNELLAYOUT_H
#define WEFT_ANALYSIS_KERNELLAYOUT_H

#include "weft/Analysis/KernelShape.h"

#include <vector>

namespace weft {

/// One pass over the inner loops.
struct KernelPhase {
  llvm::SmallVector<mlir::Operation *> outerOps; // evaluated before the loops
  llvm::SmallVector<mlir::Operation *> ops;      // evaluated inside
  llvm::SmallVector<ReduceOp> reduces;
  llvm::SmallVector<ReduceOp> sums;     // over the rows of a row kernel
  llvm::SmallVector<unsigned> stores;   // outputs written inside
  llvm::SmallVector<mlir::Value> saves; // values kept for later phases
  llvm::DenseSet<mlir::Value> restored; // values kept by earlier phases
};

class KernelLayout {
public:
  /// The layout of an outlined kernel; fails with an error if its body does not
  /// form one loop nest, or not the one that the kernel's facts describe.
  static llvm::FailureOr<KernelLayout> get(KernelOp kernel);

  /// Records the facts of a kernel that has none yet; fails like `get`.
  static llvm::LogicalResult recordFacts(KernelOp kernel);
  /// The same of a kernel that had facts before it got its `pitches`: false if
  /// its loops do not read and write the ports row by row, or add up in another
  /// order, which is no error.
  static llvm::FailureOr<bool> recordPitchedFacts(KernelOp kernel);

  /// Whether the members `outputs` can all be written by one kernel over
  /// `space`; otherwise the offenders are put in `rejected`.
  static bool canWrite(const KernelSpace &space,
                       llvm::ArrayRef<mlir::Value> outputs,
                       llvm::SmallVectorImpl<mlir::Value> &rejected);

  const KernelSpace &getSpace() const { return space; }
  const KernelShape &getShape() const { return shape; }
  llvm::ArrayRef<mlir::Value> getOutputs() const { return outputs; }
  llvm::ArrayRef<KernelPhase> getPhases() const { return phases; }
  /// Sums over rows and their other names, in program order.
  llvm::ArrayRef<mlir::Operation *> getSumOps() const { return sumOps; }
  ValueDepth getDepth(mlir::Value value) const { return depths.lookup(value); }
  /// Whether output `index` is written once per range element (rows), or after
  /// the loop over the rows (columns), rather than inside the loops.
  bool isOuterOutput(unsigned index) const;
  /// Whether output `index` is a sum over rows, written after the last of them.
  bool isSumOutput(unsigned index) const { return space.isSum(outputs[index]); }

private:
  static llvm::FailureOr<KernelLayout> compute(KernelOp kernel);
  static llvm::FailureOr<KernelLayout> findSpace(KernelOp kernel);
  std::optional<unsigned> applyPitches(KernelOp kernel);
  bool findLoops(KernelOp kernel);
  void record(KernelOp kernel) const;
  bool findShape();
  void findDepths(KernelOp kernel);
  void findPhases(KernelOp kernel);
  void placeOuterOps(KernelOp kernel);
  void fillPhase(unsigned phase, KernelOp kernel);
  llvm::SmallVector<int64_t> getInPlaceInputs(KernelOp kernel,
                                              unsigned index) const;
  llvm::LogicalResult checkFacts(KernelOp kernel) const;
  bool isHeavy(mlir::Value value) const { return heavy.contains(value); }

  KernelSpace space;
  KernelShape shape;
  llvm::SmallVector<mlir::Value> outputs;
  std::vector<KernelPhase> phases;
  llvm::SmallVector<mlir::Operation *> sumOps;
  llvm::DenseMap<mlir::Value, ValueDepth> depths;
  llvm::DenseMap<mlir::Value, unsigned> ready; // phase in which it is known
  llvm::DenseSet<mlir::Value> heavy;
  int64_t savedBytes = 0;
};

} // namespace weft

#endif // WEFT_ANALYSIS_KERNELLAYOUT_H
