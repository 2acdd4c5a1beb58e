//===- CompileFlags.h - The compile flags of the driver ---------*- C++ -*-===//

#ifndef WEFT_PIPELINE_COMPILEFLAGS_H
#define WEFT_PIPELINE_COMPILEFLAGS_H

#include "weft/Base/Flags.h"

#include "llvm/ADT/ArrayRef.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace weft {

class Target;

/// What decides the structure of the program: `--batch`, `--optimizer`, ...
const std::vector<FlagSpec> &compileFlags();

/// What only steers the driver: `--emit`, `--dump-dir`, `--from`, ...
const std::vector<FlagSpec> &driverFlags();

/// The compile flags that import reads: no pass has them as options.
llvm::ArrayRef<const char *> flagsOfImport();

/// Refuses values whose feature is not built yet, naming the flag.
Status checkSupported(const FlagValues &flags);

/// The loss scale that is asked for, or follows from the precision: "none",
/// "dynamic" or a number.
std::string lossScaleMode(const FlagValues &flags);

/// The dynamic loss scale that is asked for, as words of parseScaler.
std::vector<std::string> scalerWords(const FlagValues &flags);

/// Ranks of --mesh, which was checked; 1 without it.
int64_t meshRanks(const FlagValues &flags);

/// What lies together in flat states: "none", or a rule of weft-bucket. Ranks
/// that share a model share its buckets.
std::string bucketRule(const FlagValues &flags, const Target &target);

/// Writes the compile flags that were given to the module, as the dictionary
/// attribute `weft.options`: every dump carries its own options.
void storeOptions(mlir::ModuleOp module, const FlagValues &flags);

/// The options that a dump carries, as `--name=value` arguments.
Expected<std::vector<std::string>> loadOptions(mlir::ModuleOp module);

/// The same as values; all defaults for a module without options.
Expected<FlagValues> optionsOf(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_PIPELINE_COMPILEFLAGS_H
