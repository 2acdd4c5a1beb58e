//===- RecomputeChoices.h - Choose values to recompute ----------*- C++ -*-===//
//
// The backward part of a program of kind micro reads forward values. Each is
// saved or recomputed. The choices are listed in the order in which to drop
// them. Each step picks the value with the lowest recompute cost per byte among
// those idle at the memory peak, given the values already recomputed.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_AUTODIFF_RECOMPUTECHOICES_H
#define WEFT_AUTODIFF_RECOMPUTECHOICES_H

#include "weft/Weft/Weft.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace weft {

/// Selects the values that the backward part recomputes.
struct RecomputeRule {
  /// Number of consecutive blocks per segment; 0: no blocks.
  int64_t blocks = 0;
  /// Recompute the first choices that together save this many bytes.
  std::optional<int64_t> bytes;
};

/// "none", "blocks", "every:N" or "bytes:N"; nothing for another text.
std::optional<RecomputeRule> parseRecomputeRule(llvm::StringRef text);

/// Whether a second computation of an op of a program gives the same.
bool mayRecompute(mlir::Operation *op);

/// A forward op with results that the backward part reads.
struct RecomputeChoice {
  mlir::Operation *op = nullptr;
  /// The segment, recomputed as a unit: the block of the op, else its scope.
  /// Empty if the results are always kept: another segment of the forward part
  /// reads them, or the op has no scope.
  llvm::StringRef segment;
  /// Bytes saved: results of the op that the backward part reads, and results
  /// of `again` that were kept before this choice.
  int64_t bytes = 0;
  /// Estimated microseconds to recompute `again`.
  double us = 0;
  /// The additional ops to recompute once all earlier choices are dropped,
  /// unordered: the op, its operands' ops and ops that rename its results.
  llvm::SmallVector<mlir::Operation *, 4> again;
};

struct RecomputeChoices {
  /// In the order in which to drop them.
  llvm::SmallVector<RecomputeChoice, 0> inOrder;
  /// Ops whose results are always kept, in program order.
  llvm::SmallVector<RecomputeChoice, 0> kept;
  /// Ops that the model itself marks for recomputation, in program order.
  llvm::SmallVector<RecomputeChoice, 0> marked;

  /// Length of the shortest prefix of `inOrder` that saves `bytes`, or of all.
  size_t countFor(int64_t bytes) const;
};

/// The choices of the program of kind micro. Precondition: its gradients are
/// not built yet; this function builds them on a copy of the module. Ops that
/// the model marks are no choices. With `geluWithProduct`, a gelu is recomputed
/// together with the product before it. Returns nothing if there is no such
/// program or its gradients cannot be built, which weft-autodiff reports.
std::optional<RecomputeChoices> findRecomputeChoices(mlir::ModuleOp module,
                                                     bool geluWithProduct);

/// Whether weft-autodiff recomputes a marked op for the backward part. It does
/// not if ops outside of the segment read the results, which are then kept.
/// Precondition: there is no backward part yet, since this inspects all users
/// of the results.
bool isComputedAgain(mlir::Operation *op);

} // namespace weft

#endif // WEFT_AUTODIFF_RECOMPUTECHOICES_H
