//===- LoopHints.h - Loop metadata for LLVM ---------------------*- C++ -*-===//

#ifndef WEFT_LOWERING_LINALG_LOOPHINTS_H
#define WEFT_LOWERING_LINALG_LOOPHINTS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace weft {

/// Tells LLVM to unroll a loop `count` times, and no further.
void unrollBy(mlir::scf::ForOp loop, int32_t count);

/// Tells LLVM to write a loop of constant length out.
void unrollFully(mlir::scf::ForOp loop);

/// The attribute of a loop comes down as one of another name on its branches;
/// LLVM looks at the one back to the top.
void moveLoopHints(mlir::Operation *function);

} // namespace weft

#endif // WEFT_LOWERING_LINALG_LOOPHINTS_H
