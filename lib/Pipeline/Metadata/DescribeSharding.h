//===- DescribeSharding.h - Shards of ranks in the metadata -----*- C++ -*-===//

#ifndef WEFT_LIB_PIPELINE_METADATA_DESCRIBESHARDING_H
#define WEFT_LIB_PIPELINE_METADATA_DESCRIBESHARDING_H

#include "weft/Formats/Json.h"
#include "weft/Pipeline/Options/CompileFlags.h"

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// The field `sharding` of a lowered module's metadata (docs/executable.md);
/// null for one rank.
Json describeSharding(mlir::ModuleOp module, const FlagValues &flags);

/// "each of 4 ranks, ZeRO stage 1, keeps 6.93 MiB of 14.01 MiB of states" as a
/// line; "" for one rank.
std::string spellShare(mlir::ModuleOp module, const FlagValues &flags);

} // namespace weft

#endif // WEFT_LIB_PIPELINE_METADATA_DESCRIBESHARDING_H
