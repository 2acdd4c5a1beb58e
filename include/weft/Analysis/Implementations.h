//===- Implementations.h - Kind of command for each op ----------*- C++ -*-===//
//
// The kind of command that runs an op of a program. weft-select-kernels claims
// ops for the library of a target by writing the kind as `weft.impl`; all else
// is generated, moved or named. weft-lower-to-plan carries that out.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_IMPLEMENTATIONS_H
#define WEFT_ANALYSIS_IMPLEMENTATIONS_H

#include "weft/Weft/Weft.h"

namespace weft {

/// The value of `weft.impl` that is no kind of command: an accumulation that
/// the op before it performs.
inline constexpr llvm::StringLiteral kFoldedImpl = "folded";

/// Unit attribute of an op that performs the accumulation of its result.
inline constexpr llvm::StringLiteral kFoldedAttr = "weft.folded";

/// The kind of the command that can run the op as a whole ("gemm"), or "".
llvm::StringRef getCommandKind(mlir::Operation *op);

/// Whether the op can become part of a generated kernel, directly or as its
/// formula.
bool canGenerate(mlir::Operation *op);

/// Whether the op needs no choice: it names elements, moves them or is a call
/// of a kernel.
bool needsNoChoice(mlir::Operation *op);

/// The errors of an op that nothing runs: its definition says no command, the
/// library of that title has no routine for the command, or the plan has none.
llvm::LogicalResult reportNoCommand(mlir::Operation *op);
llvm::LogicalResult reportNoRoutine(mlir::Operation *op, llvm::StringRef title);
llvm::LogicalResult reportNoLowering(mlir::Operation *op);

/// Fails with an error on the op if it has a `weft.impl` that cannot run it, or
/// `weft.folded` where no accumulation is folded.
llvm::LogicalResult verifyClaim(mlir::Operation *op);

/// Fails with an error on the op unless its `weft.impl` can run it, or, if it
/// has none, a kernel can; and unless `weft.folded` stands where an
/// accumulation is folded, and only there.
llvm::LogicalResult verifyChoice(mlir::Operation *op);

/// The same behind weft-fuse: no op is left for a kernel.
llvm::LogicalResult verifyImplementation(mlir::Operation *op);

/// The `weft.impl` of an op, or "".
llvm::StringRef getImplementation(mlir::Operation *op);

/// Whether the op before it performs this accumulation.
bool isFolded(AccumulateOp op);

/// The claimed op that computes the added value and can perform the
/// accumulation itself, or null. No other op reads that value or the old value.
mlir::Operation *findFoldableProducer(AccumulateOp op);

} // namespace weft

#endif // WEFT_ANALYSIS_IMPLEMENTATIONS_H
