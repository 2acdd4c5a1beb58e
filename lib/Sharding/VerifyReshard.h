//===- VerifyReshard.h - Modules whose parameters go and come ---*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_VERIFYRESHARD_H
#define WEFT_LIB_SHARDING_VERIFYRESHARD_H

#include "Reshard.h"

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Each path names a module that computes something, and of at least one state
/// everything that the forward pass uses: what is gathered together can only be
/// given back together.
llvm::LogicalResult verifyReshard(mlir::ModuleOp module,
                                  const Reshard &reshard);

} // namespace weft

#endif // WEFT_LIB_SHARDING_VERIFYRESHARD_H
