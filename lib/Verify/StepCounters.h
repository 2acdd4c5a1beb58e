//===- StepCounters.h - Steps are counted before updates --------*- C++ -*-===//

#ifndef WEFT_LIB_VERIFY_STEPCOUNTERS_H
#define WEFT_LIB_VERIFY_STEPCOUNTERS_H

#include "weft/Plan/Plan.h"

#include "mlir/IR/SymbolTable.h"

namespace weft {

/// Tracks the old values of step counters. The first update has number 1, but
/// the counter starts at 0: an old value may reach parameters, moments and
/// copies only after 1 is added to it (or it is kept because the update is
/// skipped). A counter is an optimizer state that is one i64. `symbols` is the
/// table of the module.
llvm::LogicalResult verifyStepCounters(plan::ProgramOp program,
                                       const mlir::SymbolTable &symbols);

} // namespace weft

#endif // WEFT_LIB_VERIFY_STEPCOUNTERS_H
