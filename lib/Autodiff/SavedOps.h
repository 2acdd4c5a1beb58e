//===- SavedOps.h - Live ranges of saved forward values ---------*- C++ -*-===//
//
// Private to lib/Autodiff.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_SAVEDOPS_H
#define WEFT_LIB_AUTODIFF_SAVEDOPS_H

#include "weft/Weft/Weft.h"

#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace weft {

/// A forward op with results that the backward part reads. Positions are op
/// indices in the program; -1 if there is none.
struct SavedOp {
  mlir::Operation *op = nullptr;
  llvm::StringRef segment; // empty: always kept
  int64_t bytes = 0;
  int64_t made = 0, lastForward = 0;
  int64_t firstBackward = 0, lastBackward = 0;
  bool isDropped = false; // recomputed
};

/// A differentiated program, with the bytes in use at each of its ops.
class SavedOps {
public:
  /// The first `numForward` ops of the program are its forward part.
  SavedOps(ProgramOp program, size_t numForward);

  std::vector<SavedOp> &get() { return saved; }
  /// The entry of `op`, or null if the backward part reads no result of it.
  SavedOp *find(mlir::Operation *op);
  bool isForward(mlir::Operation *op) const;
  /// Position of the memory peak. A dropped op is recomputed where the backward
  /// part first reads a result of its segment.
  int64_t findPeak() const;
  /// Where the segment of `entry` is recomputed, if `entry` is dropped.
  int64_t getSegmentStart(const SavedOp &entry) const;
  void drop(SavedOp &entry);

private:
  void addSaved(mlir::Operation *op);
  void addTemporaries(mlir::Operation *op);

  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  int64_t numForward;
  std::vector<SavedOp> saved;
  llvm::DenseMap<mlir::Operation *, size_t> index;
  /// Where each segment with a dropped op is recomputed.
  llvm::DenseMap<llvm::StringRef, int64_t> starts;
  /// Change of the bytes of all other values at each position.
  std::vector<int64_t> temporaries;
};

/// Gives forward ops the attribute `weft.saved` with the numbers of the results
/// that the backward part reads. Returns these results.
std::vector<mlir::Value>
markSaved(mlir::Block &body,
          llvm::function_ref<bool(mlir::Operation *)> isBackward);

/// The segment that an op belongs to.
llvm::StringRef getSegment(mlir::Operation *op);

/// Bytes of a tensor in memory.
int64_t getTensorBytes(mlir::Value value);

/// The gelu (tanh) `op`, the bias addition before it, if there is one, and the
/// f32 product before that. No other op reads the values between them, so a
/// library may fuse them, both in the forward part and in its recomputation.
/// Empty for other ops. Precondition: there is no backward part yet, since this
/// inspects the users of the values.
llvm::SmallVector<mlir::Operation *, 3> findGeluProduct(mlir::Operation *op);

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_SAVEDOPS_H
