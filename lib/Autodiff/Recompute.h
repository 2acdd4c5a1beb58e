//===- Recompute.h - Recomputation of forward values ------------*- C++ -*-===//

#ifndef WEFT_LIB_AUTODIFF_RECOMPUTE_H
#define WEFT_LIB_AUTODIFF_RECOMPUTE_H

#include "BackwardOps.h"

#include "mlir/IR/Builders.h"

namespace weft {

/// Copies the marked ops of `forward` whose results `backward` reads, and lets
/// `backward` read the copies. The copies of a segment precede its first
/// backward op. They read values from outside the segment through fences.
/// Removes the marks.
void recomputeMarked(llvm::ArrayRef<mlir::Operation *> forward,
                     BackwardOps &backward, mlir::OpBuilder &builder);

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_RECOMPUTE_H
