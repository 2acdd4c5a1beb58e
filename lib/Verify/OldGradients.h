//===- OldGradients.h - Gradients of the previous step ----------*- C++ -*-===//

#ifndef WEFT_LIB_VERIFY_OLDGRADIENTS_H
#define WEFT_LIB_VERIFY_OLDGRADIENTS_H

#include "weft/Plan/Plan.h"

#include "mlir/IR/SymbolTable.h"

namespace weft {

/// Tracks old gradients, the contents from before a step, through the commands
/// of `micro`: they must reach no state and no output. The first micro-step
/// adds to nothing. Its input `accumulate` is 0, and a command that reads this
/// flag may ignore old gradients. Other programs start with the gradients of
/// their step. `symbols` is the table of the module.
llvm::LogicalResult verifyOldGradients(plan::ProgramOp program,
                                       const mlir::SymbolTable &symbols);

} // namespace weft

#endif // WEFT_LIB_VERIFY_OLDGRADIENTS_H
