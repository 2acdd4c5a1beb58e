//===- DebugTable.h - The command table of --debug-nan ----------*- C++ -*-===//

#ifndef WEFT_LIB_PIPELINE_METADATA_DEBUGTABLE_H
#define WEFT_LIB_PIPELINE_METADATA_DEBUGTABLE_H

#include "weft/Formats/Json.h"

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// The metadata's `debug_nan` (docs/executable.md): for every command its
/// source location, the ops of a fused kernel and the buffers it reads and
/// writes.
Json debugTable(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_PIPELINE_METADATA_DEBUGTABLE_H
