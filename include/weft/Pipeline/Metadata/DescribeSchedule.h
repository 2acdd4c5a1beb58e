//===- DescribeSchedule.h - When commands run, in the metadata --*- C++ -*-===//

#ifndef WEFT_PIPELINE_METADATA_DESCRIBESCHEDULE_H
#define WEFT_PIPELINE_METADATA_DESCRIBESCHEDULE_H

#include "weft/Formats/Json.h"

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// The fields `schedule` and `overlap` of a lowered module's metadata
/// (docs/reference/executable.md): the commands of every program, and how its collectives
/// hide; `overlap` is null where nothing travels. All three fail like
/// Timeline::get.
llvm::FailureOr<Json> describeSchedule(mlir::ModuleOp module);
llvm::FailureOr<Json> describeOverlap(mlir::ModuleOp module);

/// The planned programs as a Chrome trace, one behind the other.
llvm::FailureOr<std::string> describeTimeline(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_PIPELINE_METADATA_DESCRIBESCHEDULE_H
