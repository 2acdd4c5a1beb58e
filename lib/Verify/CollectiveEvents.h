//===- CollectiveEvents.h - Check waits for collectives ---------*- C++ -*-===//

#ifndef WEFT_LIB_VERIFY_COLLECTIVEEVENTS_H
#define WEFT_LIB_VERIFY_COLLECTIVEEVENTS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Fails with an error unless each record of a stream of collectives has one
/// wait per waiting stream below it in its program, and no collective is in
/// flight when a program ends.
llvm::LogicalResult verifyCollectiveEvents(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_VERIFY_COLLECTIVEEVENTS_H
