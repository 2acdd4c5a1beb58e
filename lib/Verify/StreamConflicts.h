//===- StreamConflicts.h - Streams never conflict ---------------*- C++ -*-===//

#ifndef WEFT_LIB_VERIFY_STREAMCONFLICTS_H
#define WEFT_LIB_VERIFY_STREAMCONFLICTS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Checks that two commands of different streams are ordered if they use the
/// same bytes and one of them writes. This holds within one run of each
/// program, and across two runs of any two programs. Every root has its offset.
llvm::LogicalResult verifyStreams(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_VERIFY_STREAMCONFLICTS_H
