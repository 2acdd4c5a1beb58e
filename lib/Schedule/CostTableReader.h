//===- CostTableReader.h - Rates in a table of a TOML file ------*- C++ -*-===//

#ifndef WEFT_LIB_SCHEDULE_COSTTABLEREADER_H
#define WEFT_LIB_SCHEDULE_COSTTABLEREADER_H

#include "weft/Analysis/Cost.h"
#include "weft/Support/TomlFile.h"

namespace weft {

/// Reads what readCostTable reads from a file from a table in one. Only a whole
/// file (`isFile`) must name its target.
llvm::FailureOr<CostTable> readCosts(mlir::MLIRContext *context,
                                     llvm::StringRef path,
                                     const toml::table &table,
                                     llvm::StringRef target, bool isFile);

/// The value of the key `target`, "cpu" or "cuda". Another one than `wanted`
/// is an error, unless that is empty.
llvm::FailureOr<std::string> readTarget(mlir::MLIRContext *context,
                                        llvm::StringRef path,
                                        const toml::node &value,
                                        llvm::StringRef wanted);

/// An error at the top of a file without the key `target`.
mlir::InFlightDiagnostic reportMissingTarget(mlir::MLIRContext *context,
                                             llvm::StringRef path,
                                             llvm::StringRef wanted);

/// A number from 1e-6 to 1e12, or an error at `value` that calls it `name`. One
/// that ends with "_us" is a time, which may be 0.
mlir::LogicalResult readNumber(mlir::MLIRContext *context, llvm::StringRef path,
                               llvm::StringRef name, const toml::node &value,
                               double &number);

} // namespace weft

#endif // WEFT_LIB_SCHEDULE_COSTTABLEREADER_H
