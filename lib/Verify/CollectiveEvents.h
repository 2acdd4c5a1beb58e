//===- CollectiveEvents.h - Every collective is waited for ------*- C++ -*-===//

#ifndef WEFT_LIB_VERIFY_COLLECTIVEEVENTS_H
#define WEFT_LIB_VERIFY_COLLECTIVEEVENTS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Fails with an error unless each record of a stream of collectives is waited
/// for once, below it in its program, and a program ends with none under way.
llvm::LogicalResult verifyCollectiveEvents(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_VERIFY_COLLECTIVEEVENTS_H
