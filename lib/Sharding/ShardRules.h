//===- ShardRules.h - Which parameters a stage may shard --------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_SHARDRULES_H
#define WEFT_LIB_SHARDING_SHARDRULES_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Gives each parameter of fewer than `min` elements that has no `dist.rule` one
/// that keeps it whole.
void keepSmallParams(mlir::ModuleOp module, int64_t min);

} // namespace weft

#endif // WEFT_LIB_SHARDING_SHARDRULES_H
