//===- RecomputeChoices.h - Which saved values to compute again -*- C++ -*-===//
//
// What the backward part of a program of kind micro reads of its forward part
// is kept, or computed again. The choices stand in the order in which they
// should be given up: first what lies idle where most bytes are in use, and
// costs least for its bytes, in the light of what is computed again already.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_AUTODIFF_RECOMPUTECHOICES_H
#define WEFT_AUTODIFF_RECOMPUTECHOICES_H

#include "weft/Weft/Weft.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace weft {

/// A rule for what the backward part computes again.
struct RecomputeRule {
  /// So many blocks in a row as one segment; 0: no blocks.
  int64_t blocks = 0;
  /// The first choices that together save so many bytes.
  std::optional<int64_t> bytes;
};

/// "none", "blocks", "every:N" or "bytes:N"; nothing for another text.
std::optional<RecomputeRule> parseRecomputeRule(llvm::StringRef text);

/// Whether a second computation of an op of a program gives the same.
bool mayRecompute(mlir::Operation *op);

/// A forward op with results that the backward part reads.
struct RecomputeChoice {
  mlir::Operation *op = nullptr;
  /// What is computed again together: the block of the op, else its scope.
  /// Empty for an op whose results are kept whatever anybody wants: others of
  /// the forward part read them, or it has no scope.
  llvm::StringRef segment;
  /// Of the results that the backward part reads; of `again`, too, where those
  /// were kept before.
  int64_t bytes = 0;
  /// Estimated microseconds for what is to be computed again if this op joins
  /// those before it in the order.
  double us = 0;
  /// What that is, in no order: the op, what it needs, other names of its
  /// results.
  llvm::SmallVector<mlir::Operation *, 4> again;
};

struct RecomputeChoices {
  /// In the order in which they are given up.
  llvm::SmallVector<RecomputeChoice, 0> inOrder;
  /// What is always kept, in the order of the program.
  llvm::SmallVector<RecomputeChoice, 0> kept;
  /// What marks of the model give up anyway, in the order of the program.
  llvm::SmallVector<RecomputeChoice, 0> marked;

  /// How many of `inOrder` together save `bytes`, or all.
  size_t countFor(int64_t bytes) const;
};

/// The choices of the program of kind micro, whose gradients are not built yet:
/// they are built on a copy of the module. What the model has marks for is no
/// choice; a gelu is computed again with the product before it if
/// `geluWithProduct`. Nothing without such a program, or if its gradients
/// cannot be built, which weft-autodiff reports.
std::optional<RecomputeChoices> findRecomputeChoices(mlir::ModuleOp module,
                                                     bool geluWithProduct);

/// Whether weft-autodiff computes a marked op again where the backward part
/// reads it: not if ops outside of its segment do, which it is kept for. Asks
/// the users of its results: only while there is no backward part.
bool isComputedAgain(mlir::Operation *op);

} // namespace weft

#endif // WEFT_AUTODIFF_RECOMPUTECHOICES_H
