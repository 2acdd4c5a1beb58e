//===- DescribeTraining.h - Training in a program's metadata ----*- C++ -*-===//

#ifndef WEFT_LIB_PIPELINE_METADATA_DESCRIBETRAINING_H
#define WEFT_LIB_PIPELINE_METADATA_DESCRIBETRAINING_H

#include "weft/Formats/Json.h"
#include "weft/Pipeline/Options/CompileFlags.h"

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Sets the fields of `meta` that say how a lowered module trains: precision,
/// optimizers with their hyper-parameters, the rule of the loss scale, and the
/// flags that the numbers of a run depend on (docs/reference/executable.md).
void describeTraining(mlir::ModuleOp module, const FlagValues &flags,
                      Json &meta);

/// The metadata's `debug_nan` (docs/reference/executable.md): for every command its
/// source location, the ops of a fused kernel and the buffers it reads and
/// writes.
Json debugTable(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_PIPELINE_METADATA_DESCRIBETRAINING_H
