//===- RunFile.h - Flags in a file ------------------------------*- C++ -*-===//
//
// `--config FILE` reads flags from a file in TOML: a key is the name of a flag
// without its dashes. The command line wins over the file. `--print-config`
// prints all values with their origins, as such a file.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_RUNFILE_H
#define WEFT_BASE_RUNFILE_H

#include "weft/Base/Flags.h"

#include <string>
#include <vector>

namespace weft {

/// The flags in a file, in the order of their lines. A key must be a flag of
/// `table` or of another command of weft, and its value one that the flag
/// takes. Every error has the line and the column.
Expected<std::vector<RunFileValue>>
readRunFile(const std::string &path, const FlagTable &table,
            const FlagParseOptions &options);

/// Whether only the command line may give the flag: `help`, `config`.
bool isOnlyOnCommandLine(const std::string &name);

/// Arguments behind which the values of their run file stand, for a look at
/// some flags before the command line is parsed: the first value of a flag
/// counts. Without a readable file, the arguments alone.
std::vector<std::string>
argumentsWithFile(const std::vector<std::string> &args);

/// The name of a flag's table in a file: "loss-scale". "" for a flag without a
/// heading.
std::string fileTableOf(const FlagSpec &spec);

/// The values as a run file. Values that were not given are comments, so that
/// the file gives the same flags. A value that is not UTF-8 is an error.
/// `program` names the command in the first line.
Expected<std::string> formatRunFile(const FlagValues &flags,
                                    const std::string &program);

/// Prints the values if --print-config was given; whether it was.
Expected<bool> printConfig(const FlagValues &flags, const std::string &program);

/// The work of a run.
enum class RunUse { Train, Evaluate, Predict, Sample, Measure };

/// The work that the flags of a run ask for.
RunUse runUseOf(const FlagValues &flags);

/// `flags` without the values of a file that a run of this kind does not use.
/// One file serves the training and the evaluation of its weights.
FlagValues withoutUnused(const FlagValues &flags, RunUse use);

/// `flags` without the values of a file for flags of some groups.
FlagValues withoutFileValues(const FlagValues &flags, unsigned groups);

/// `flags` without the values of a file for training, if they ask for a program
/// without it (`--inference`).
FlagValues withoutTraining(const FlagValues &flags);

/// The line of a key in TOML that nests too many tables, or 0. The parser
/// limits the nesting of values, but descends into tables of keys without a
/// limit.
int findDeepTomlKey(std::string_view text);
/// That limit.
constexpr int kMostTomlKeyParts = 256;

} // namespace weft

#endif // WEFT_BASE_RUNFILE_H
