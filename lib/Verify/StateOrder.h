//===- StateOrder.h - States are written before they are read ---*- C++ -*-===//

#ifndef WEFT_LIB_VERIFY_STATEORDER_H
#define WEFT_LIB_VERIFY_STATEORDER_H

#include "weft/Plan/Plan.h"

#include "mlir/IR/SymbolTable.h"

namespace weft {

/// Checks what programs do with the states of a module:
///  - parameters, moments and copies do not depend on a step counter before the
///    program has counted it (StepCounters)
///  - a program that writes a parameter also writes those elements of all its
///    working copies. A command that reads the parameter for it stands after
///    the write, or is the same. The copies are those whose `param` it is, or
///    whose segments are all of its segments
///  - what gradients held before `micro` reaches none of its states and outputs
///    but through a command that has the input `accumulate`, or what is made of
///    it alone. This asks what depends on what: a kernel that gets both is
///    trusted to leave old gradients unread in the first micro-step
///  - a run reads no element of a state that no command before has written,
///    whether it begins with `init` or with a checkpoint. Without an `init`
///    program there are runs from checkpoints only, and without one that trains
///    states come from elsewhere
/// `symbols` is the table of the module.
llvm::LogicalResult verifyStateOrder(mlir::ModuleOp module,
                                     const mlir::SymbolTable &symbols);

} // namespace weft

#endif // WEFT_LIB_VERIFY_STATEORDER_H
