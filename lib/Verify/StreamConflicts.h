//===- StreamConflicts.h - Streams never disturb each other -----*- C++ -*-===//

#ifndef WEFT_LIB_VERIFY_STREAMCONFLICTS_H
#define WEFT_LIB_VERIFY_STREAMCONFLICTS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Checks that of two commands of different streams which use the same bytes,
/// one of them writing, one happens before the other: in a run of each program
/// and in two runs of any two programs. Every root has its offset.
llvm::LogicalResult verifyStreams(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_VERIFY_STREAMCONFLICTS_H
