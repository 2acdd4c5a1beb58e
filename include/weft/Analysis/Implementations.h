//===- Implementations.h - What can run an op -------------------*- C++ -*-===//
//
// The one table of what runs an op of a program: which library routine, for
// which element types. weft-select-kernels writes its choice as `weft.impl`;
// weft-lower-to-plan carries out what stands there.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_IMPLEMENTATIONS_H
#define WEFT_ANALYSIS_IMPLEMENTATIONS_H

#include "weft/Weft/Weft.h"

namespace weft {

/// Values of `weft.impl` that are no routine: an op that only names elements,
/// a call of a kernel, an accumulation that the op before it performs.
inline constexpr llvm::StringLiteral kViewImpl = "view";
inline constexpr llvm::StringLiteral kGeneratedImpl = "generated";
inline constexpr llvm::StringLiteral kFoldedImpl = "folded";

/// Unit attribute of an op that performs the accumulation of its result.
inline constexpr llvm::StringLiteral kFoldedAttr = "weft.folded";

/// Chooses what runs the op. Fails with an error on the op if nothing can, or
/// nothing for its element types.
llvm::FailureOr<llvm::StringRef> chooseImplementation(mlir::Operation *op);

/// The error of an op that nothing runs.
llvm::LogicalResult reportNoCommand(mlir::Operation *op);

/// Fails with an error on the op unless its `weft.impl` can run it and
/// `weft.folded` stands where an accumulation is folded, and only there.
llvm::LogicalResult verifyImplementation(mlir::Operation *op);

/// The `weft.impl` of an op, or "".
llvm::StringRef getImplementation(mlir::Operation *op);

/// Whether the op before it performs this accumulation.
bool isFolded(AccumulateOp op);

/// The op that computes the value and can perform the accumulation itself, or
/// null. Nothing else reads the value or what it is added to.
mlir::Operation *findFoldableProducer(AccumulateOp op);

} // namespace weft

#endif // WEFT_ANALYSIS_IMPLEMENTATIONS_H
