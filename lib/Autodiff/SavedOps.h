//===- SavedOps.h - Lives of what the backward part reads -------*- C++ -*-===//
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

/// A forward op with results that the backward part reads. Positions are those
/// of ops in the program; -1 where there is none.
struct SavedOp {
  mlir::Operation *op = nullptr;
  llvm::StringRef segment; // empty: always kept
  int64_t bytes = 0;
  int64_t made = 0, lastForward = 0;
  int64_t firstBackward = 0, lastBackward = 0;
  bool isDropped = false; // computed again
};

/// A differentiated program, with the bytes in use at each of its ops.
class SavedOps {
public:
  /// The first `numForward` ops of the program are its forward part.
  SavedOps(ProgramOp program, size_t numForward);

  std::vector<SavedOp> &get() { return saved; }
  /// The op that results of `op` are kept by, or null.
  SavedOp *find(mlir::Operation *op);
  bool isForward(mlir::Operation *op) const;
  /// The op with most bytes in use, if what is dropped is computed again where
  /// the backward part first reads anything of its segment.
  int64_t findPeak() const;
  /// Where the segment of `entry` is computed again, if `entry` is dropped.
  int64_t getSegmentStart(const SavedOp &entry) const;
  void drop(SavedOp &entry);

private:
  void addSaved(mlir::Operation *op);
  void addTemporaries(mlir::Operation *op);

  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  int64_t numForward;
  std::vector<SavedOp> saved;
  llvm::DenseMap<mlir::Operation *, size_t> index;
  /// Where each segment of which anything is dropped is computed again.
  llvm::DenseMap<llvm::StringRef, int64_t> starts;
  /// Bytes of everything else that come (and go) at each position.
  std::vector<int64_t> temporaries;
};

/// The segment that an op belongs to.
llvm::StringRef getSegment(mlir::Operation *op);

/// Bytes of a tensor in memory.
int64_t getTensorBytes(mlir::Value value);

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_SAVEDOPS_H
