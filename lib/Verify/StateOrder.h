//===- StateOrder.h - States are written before they are read ---*- C++ -*-===//

#ifndef WEFT_LIB_VERIFY_STATEORDER_H
#define WEFT_LIB_VERIFY_STATEORDER_H

#include "weft/Plan/Plan.h"

namespace weft {

/// Checks how programs use the states of a module:
///  - a program that writes a parameter also writes the same elements of its
///    working copies. A command that reads the parameter for a copy comes after
///    the write, or is the writing command. Working copies are all states whose
///    `param` it is, or whose segments are all of its segments
///  - a run reads only elements of states that earlier commands have written,
///    whether it begins with `init` or with a checkpoint. Without an `init`
///    program there are only runs from checkpoints. Without training programs,
///    states come from elsewhere and are not checked
llvm::LogicalResult verifyStateOrder(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_VERIFY_STATEORDER_H
