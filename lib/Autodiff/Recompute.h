//===- Recompute.h - Forward values that are computed again -----*- C++ -*-===//

#ifndef WEFT_LIB_AUTODIFF_RECOMPUTE_H
#define WEFT_LIB_AUTODIFF_RECOMPUTE_H

#include "BackwardOps.h"

#include "mlir/IR/Builders.h"

namespace weft {

/// Gives the ops of `backward` copies of the marked ops of `forward` whose
/// results they read: those of a segment stand before its first backward op,
/// and read what comes from elsewhere through fences. Takes the marks off.
void recomputeMarked(llvm::ArrayRef<mlir::Operation *> forward,
                     BackwardOps &backward, mlir::OpBuilder &builder);

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_RECOMPUTE_H
