//===- StepCounters.h - Updates know their number ---------------*- C++ -*-===//

#ifndef WEFT_LIB_VERIFY_STEPCOUNTERS_H
#define WEFT_LIB_VERIFY_STEPCOUNTERS_H

#include "weft/Plan/Plan.h"

#include "mlir/IR/SymbolTable.h"

namespace weft {

/// Follows what step counters held before a program: the number of an update
/// begins at 1, the counter at 0, so that it reaches parameters, moments and
/// copies only with 1 added to it (or kept where the update is skipped). A
/// counter is an optimizer's state that is one i64. `symbols` is the table of
/// the module.
llvm::LogicalResult verifyStepCounters(plan::ProgramOp program,
                                       const mlir::SymbolTable &symbols);

} // namespace weft

#endif // WEFT_LIB_VERIFY_STEPCOUNTERS_H
