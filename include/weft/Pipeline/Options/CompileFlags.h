//===- CompileFlags.h - The compile flags of the driver ---------*- C++ -*-===//

#ifndef WEFT_PIPELINE_OPTIONS_COMPILEFLAGS_H
#define WEFT_PIPELINE_OPTIONS_COMPILEFLAGS_H

#include "weft/Base/FlagNames.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace weft {

/// The value of --bucket with which each parameter is its own state.
inline constexpr llvm::StringLiteral kNoBuckets = "none";

/// The compile flags that import reads: no pass has them as options.
llvm::ArrayRef<const char *> flagsOfImport();

/// Compile and driver flags.
FlagTable compilerFlagTable();

/// Refuses flags that mean nothing together, whatever the target.
Status checkOptions(const FlagValues &flags);

/// The loss scale that is asked for, or follows from the precision: "none",
/// "dynamic" or a number.
std::string lossScaleMode(const FlagValues &flags);

/// The dynamic loss scale that is asked for, as words of parseScaler.
std::vector<std::string> scalerWords(const FlagValues &flags);

/// Ranks of --mesh, which was checked; 1 without it.
int64_t meshRanks(const FlagValues &flags);

/// Writes the compile flags that were given to the module, as the dictionary
/// attribute `weft.options`: every dump carries its own options.
void storeOptions(mlir::ModuleOp module, const FlagValues &flags);

/// The options that a dump carries, as `--name=value` arguments.
Expected<std::vector<std::string>> loadOptions(mlir::ModuleOp module);

/// The same as values; all defaults for a module without options.
Expected<FlagValues> optionsOf(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_PIPELINE_OPTIONS_COMPILEFLAGS_H
