//===- CostTableFile.h - Rates of a machine in a file -----------*- C++ -*-===//

#ifndef WEFT_SCHEDULE_COSTTABLEFILE_H
#define WEFT_SCHEDULE_COSTTABLEFILE_H

#include "weft/Analysis/Cost.h"

#include "mlir/IR/MLIRContext.h"

#include <string>

namespace weft {

/// The format that writeCostTable writes. A file without `format` has format 1:
/// it has no threads, no rates of scores and no kinds of kernels besides
/// "launch".
inline constexpr int64_t kCostTableFormat = 2;
inline constexpr llvm::StringLiteral kFormatKey = "format";
inline constexpr llvm::StringLiteral kThreadsKey = "threads";
inline constexpr llvm::StringLiteral kTargetKey = "target";
inline constexpr llvm::StringLiteral kGigascoresKey = "gigascores_per_second";

/// Reads rates from a TOML file: rates of all commands at the top level, and
/// tables for an element type (`[bf16]`), a kind of command (`[gemm]`) and both
/// (`[gemm.bf16]`). Emits an error at the line of the file. Kinds are the
/// commands of the plan dialect and the kinds of kernels (CostKinds.h); both
/// dialects must be loaded. A table for another `target` ("cpu" or "cuda") is
/// an error, and so is one without a target, unless it has format 1 and the
/// target is "cpu". An empty `target` accepts all tables.
llvm::FailureOr<CostTable> readCostTable(mlir::MLIRContext *context,
                                         llvm::StringRef path,
                                         llvm::StringRef target = "");

/// Writes the text of such a file. readCostTable reads the same table back,
/// with rates rounded to 4 digits. `notes` are one-line comments by the name of
/// a table ("gemm.bf16").
std::string writeCostTable(const CostTable &table,
                           const llvm::StringMap<std::string> &notes);

/// Default rates, for commands that no table covers.
struct KnownRates {
  llvm::StringLiteral name;    // "cpu" or "h100"
  llvm::StringLiteral machine; // for people, as in "at the rates of ..."
  llvm::StringLiteral target;  // "cpu" or "cuda"
  CostTable (*makeTable)();
};

/// "cpu", two x86 cores, and "h100", the costs of examples/clusters/h100.toml.
/// Null for any other name.
const KnownRates *findKnownRates(llvm::StringRef name);

} // namespace weft

#endif // WEFT_SCHEDULE_COSTTABLEFILE_H
