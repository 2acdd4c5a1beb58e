//===- FlagNames.h - Names of flags and commands ----------------*- C++ -*-===//
//
// A command line may name a flag of another command of weft, or of another
// tool. These tables answer both, in compiled programs too.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_FLAGNAMES_H
#define WEFT_BASE_FLAGNAMES_H

#include "weft/Base/Flags.h"

#include <string>
#include <vector>

namespace weft {

/// Flags that decide the program's structure: `--batch`, `--optimizer`, ...
const std::vector<FlagSpec> &compileFlags();
/// Flags that only steer the driver: `--emit`, `--dump-dir`, `--from`, ...
const std::vector<FlagSpec> &driverFlags();
/// The flags of executables and `weft train`, in the order of the help text.
std::vector<FlagSpec> runFlagSpecs();

/// Whether the compile flag only changes gradients and updates, which programs
/// of `--inference` do not have.
bool onlyTrains(const std::string &name);

/// The flag with another help text where nothing is trained.
constexpr FlagSpec withInferenceHelp(FlagSpec spec, const char *help) {
  spec.inferenceHelp = help;
  return spec;
}

/// The flags with an effect where nothing is trained, with help texts that do
/// not speak of training: for help of programs of `--inference` and of commands
/// that imply it.
std::vector<FlagSpec> flagsWithoutTraining(std::vector<FlagSpec> specs);

/// The flag in one of these tables, by its name or as `o`; null for an unknown
/// name.
const FlagSpec *findFlagName(const std::string &name);

/// Whether `text` is one of the choices "f32|f16|bf16".
bool isChoice(const std::string &choices, const std::string &text);

/// A flag or a command of nanoGPT, transformers, torchrun, mlx-lm and the like.
struct ForeignName {
  /// Spellings in kebab-case: "max-iters|iters". One with a value stands for a
  /// flag that weft has too, with another meaning: "device=cuda".
  const char *names;
  /// Of a flag, weft's flag without dashes, perhaps with a value:
  /// "precision=bf16"; of a command, the command line behind "weft". "" if weft
  /// has none.
  const char *answer;
  /// The difference; without an answer, why there is none or what to do
  /// instead.
  const char *text = "";
};

const std::vector<ForeignName> &foreignFlags();
const std::vector<ForeignName> &foreignCommands();
/// By a name in kebab-case; null if there is none.
const ForeignName *findForeignFlag(const std::string &name);
const ForeignName *findForeignCommand(const std::string &name);

/// "weft's flag is '--lr'" or "weft has none; TEXT".
std::string describeForeign(const ForeignName &flag);

/// "weft compile MODEL does that" or "weft has none; TEXT".
std::string describeForeignCommand(const ForeignName &command);

/// The value of an enum flag that another tool spells so, in lower case: "f16"
/// for "fp16"; "" if there is none.
std::string foreignValue(const std::string &text);

/// The flags of other tools as a Markdown table.
std::string foreignMarkdown();

} // namespace weft

#endif // WEFT_BASE_FLAGNAMES_H
