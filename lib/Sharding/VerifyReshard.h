//===- VerifyReshard.h - Check the modules of reshard-scopes ----*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_VERIFYRESHARD_H
#define WEFT_LIB_SHARDING_VERIFYRESHARD_H

#include "Reshard.h"

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Checks each path of `reshard`. It names a module with ops, and all forward
/// uses of at least one state are in that module: parameters that are gathered
/// together can only be freed together.
llvm::LogicalResult verifyReshard(mlir::ModuleOp module,
                                  const Reshard &reshard);

} // namespace weft

#endif // WEFT_LIB_SHARDING_VERIFYRESHARD_H
