//===- OldGradients.h - What the step before left behind --------*- C++ -*-===//

#ifndef WEFT_LIB_VERIFY_OLDGRADIENTS_H
#define WEFT_LIB_VERIFY_OLDGRADIENTS_H

#include "weft/Plan/Plan.h"

#include "mlir/IR/SymbolTable.h"

namespace weft {

/// Follows what the gradients held before a step through the commands of
/// `micro`: it may reach no state and no output. The first micro-step adds to
/// nothing: the input `accumulate` is 0, and a command that it is given may
/// leave old gradients unread. Other programs begin with gradients of their
/// step. `symbols` is the table of the module.
llvm::LogicalResult verifyOldGradients(plan::ProgramOp program,
                                       const mlir::SymbolTable &symbols);

} // namespace weft

#endif // WEFT_LIB_VERIFY_OLDGRADIENTS_H
