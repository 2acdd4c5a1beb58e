//===- StateOrder.h - States are written before they are read ---*- C++ -*-===//

#ifndef WEFT_LIB_MEMORY_STATEORDER_H
#define WEFT_LIB_MEMORY_STATEORDER_H

#include "weft/Plan/Plan.h"

namespace weft {

/// Checks what programs do with the states of a module:
///  - an optimizer has a step that its program has counted: a step is the
///    number of an update and begins at 1, the state at 0
///  - a program that writes a parameter also writes those elements of its
///    working copy
///  - a run reads no element of a state that no command before has written,
///    whether it begins with `init` or with a checkpoint; a module without an
///    init program gets its states from elsewhere
llvm::LogicalResult verifyStateOrder(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_MEMORY_STATEORDER_H
