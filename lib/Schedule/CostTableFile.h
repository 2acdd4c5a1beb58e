//===- CostTableFile.h - Rates of a machine from a file ---------*- C++ -*-===//

#ifndef WEFT_LIB_SCHEDULE_COSTTABLEFILE_H
#define WEFT_LIB_SCHEDULE_COSTTABLEFILE_H

#include "weft/Analysis/Cost.h"

#include "mlir/IR/MLIRContext.h"

namespace weft {

/// Reads rates from a TOML file: those of all commands, and tables for an
/// element type (`[bf16]`), a kind of command (`[gemm]`) and both
/// (`[gemm.bf16]`). Emits an error at the line of the file. Kinds are the
/// commands of the plan dialect, which must be loaded.
llvm::FailureOr<CostTable> readCostTable(mlir::MLIRContext *context,
                                         llvm::StringRef path);

} // namespace weft

#endif // WEFT_LIB_SCHEDULE_COSTTABLEFILE_H
