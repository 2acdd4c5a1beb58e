//===- CostTableFile.h - Rates of a machine in a file -----------*- C++ -*-===//

#ifndef WEFT_SCHEDULE_COSTTABLEFILE_H
#define WEFT_SCHEDULE_COSTTABLEFILE_H

#include "weft/Analysis/Cost.h"

#include "mlir/IR/MLIRContext.h"

#include <string>

namespace weft {

/// Reads rates from a TOML file: those of all commands, and tables for an
/// element type (`[bf16]`), a kind of command (`[gemm]`) and both
/// (`[gemm.bf16]`). Emits an error at the line of the file. Kinds are the
/// commands of the plan dialect, which must be loaded.
llvm::FailureOr<CostTable> readCostTable(mlir::MLIRContext *context,
                                         llvm::StringRef path);

/// The text of such a file: what readCostTable reads is the same table, its
/// rates rounded to 4 digits. `notes` are comments by the name of a part
/// ("gemm.bf16"), a line each.
std::string writeCostTable(const CostTable &table,
                           const llvm::StringMap<std::string> &notes);

} // namespace weft

#endif // WEFT_SCHEDULE_COSTTABLEFILE_H
