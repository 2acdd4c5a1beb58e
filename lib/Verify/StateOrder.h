//===- StateOrder.h - States are written before they are read ---*- C++ -*-===//

#ifndef WEFT_LIB_VERIFY_STATEORDER_H
#define WEFT_LIB_VERIFY_STATEORDER_H

#include "weft/Plan/Plan.h"

#include "mlir/IR/SymbolTable.h"

namespace weft {

/// Checks how programs use the states of a module:
///  - parameters, moments and copies do not depend on a step counter before the
///    program has incremented it (StepCounters)
///  - a program that writes a parameter also writes the same elements of its
///    working copies. A command that reads the parameter for a copy comes after
///    the write, or is the writing command. Working copies are all states whose
///    `param` it is, or whose segments are all of its segments
///  - an old gradient, from before `micro`, reaches no state and no output of
///    `micro`, except through a command with the input `accumulate`, or with a
///    value computed only from it. This checks dependences alone: a kernel that
///    reads both is trusted to ignore old gradients in the first micro-step
///  - a run reads only elements of states that earlier commands have written,
///    whether it begins with `init` or with a checkpoint. Without an `init`
///    program there are only runs from checkpoints. Without training programs,
///    states come from elsewhere and are not checked
/// `symbols` is the table of the module.
llvm::LogicalResult verifyStateOrder(mlir::ModuleOp module,
                                     const mlir::SymbolTable &symbols);

} // namespace weft

#endif // WEFT_LIB_VERIFY_STATEORDER_H
