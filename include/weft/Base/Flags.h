//===- Flags.h - One table makes parser, help and docs ----------*- C++ -*-===//
//
// Flags are `--name value` or `--name=value`, kebab-case. The same table of
// FlagSpec makes the parser, the help text and the Markdown table.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_FLAGS_H
#define WEFT_BASE_FLAGS_H

#include "weft/Base/OutputFile.h"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace weft {

enum class FlagKind {
  Switch, // no value; `--no-x` is `--x=off`; `--x=on` is accepted
  Int,
  Double, // "inf" only where the range allows it
  String,
  Enum,  // one of `choices`
  Bytes, // "512K", "1.5G", "64MiB" or "2GB": see parseByteCount
  List,  // comma-separated and repeatable
};

/// The consumer of the flag. A bit set, so that a parser can accept several.
enum FlagGroup : unsigned {
  CompileFlag = 1,
  RunFlag = 2,
  DriverFlag = 4,
  AllFlags = 7
};

/// How a command uses the file that a flag names. Outputs are compared with all
/// other files (OutputFile.h).
enum class FlagFile { None, Read, Written };

/// The heading of a flag in help texts and documents, in their order.
enum class FlagTopic {
  None, // of a command with few flags, which stand in one list
  Model,
  Data,
  Steps,
  Optimizer,
  Precision,
  LossScale,
  Sharding,
  Ranks,
  Memory,
  Speed,
  Weights,
  Checkpoints,
  Evaluation,
  Samples,
  Output,
  CudaDevices,
  Phases,
  PlugIns,
  Diagnosis,
  General
};

struct FlagSpec {
  const char *name; // without the dashes
  FlagKind kind;
  FlagGroup group;
  const char *defaultText;  // "" when there is none
  const char *valueName;    // "N", "FILE"; "" shows the choices or nothing
  const char *help;         // one line, lower case, no period
  const char *choices = ""; // Enum: "f32|f16|bf16"
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  const char *shortName = ""; // "o" for -o
  FlagFile file = FlagFile::None;
  FlagTopic topic = FlagTopic::None;
  bool isCommon = false; // `--help` shows it, not only `--help-all`
  /// The help of a program or command that does not train, where it differs.
  const char *inferenceHelp = nullptr;
};

/// The source of a value, from the weakest to the strongest.
enum class FlagOrigin { Default, Checkpoint, File, CommandLine };

struct FlagParseOptions {
  unsigned groups = AllFlags;
  /// `--PREFIX...` is collected in passThrough() instead of being an error.
  std::string passThroughPrefix;
  /// Arguments without dashes: how many are allowed.
  size_t maxPositionals = std::numeric_limits<size_t>::max();
  /// "weft compile": who to ask for help in hints.
  std::string program = "weft";
  /// The flags that a compiled program was compiled with, and their values;
  /// null for a command of weft.
  const std::map<std::string, std::string> *compiledWith = nullptr;
  /// Flags of other commands and tools that have another name in this command:
  /// {"generate", "prompt"}.
  std::map<std::string, std::string> renamed = {};
  /// The first arguments come from a checkpoint: how many.
  size_t fromCheckpoint = 0;
};

/// A flag that a file gives.
struct RunFileValue {
  std::string name;
  std::string text;  // as on the command line
  std::string place; // "run.toml:3"
  int line = 0, column = 0;
};

class FlagTable;

/// The parsed command line. Asking for a name that is not in the table, or with
/// the wrong kind, is a mistake in the program and ends it with exit 70.
class FlagValues {
public:
  /// Given on the command line, by a file or by a checkpoint.
  bool isSet(const std::string &name) const;
  FlagOrigin origin(const std::string &name) const;
  /// "default", "checkpoint", "run.toml:3" or "command line".
  std::string originText(const std::string &name) const;
  /// Given, or has a default.
  bool hasValue(const std::string &name) const {
    return !getText(name).empty();
  }
  bool getSwitch(const std::string &name) const;
  int64_t getInt(const std::string &name, int64_t fallback = 0) const;
  double getDouble(const std::string &name, double fallback = 0) const;
  /// String and Enum.
  const std::string &getString(const std::string &name) const;
  int64_t getBytes(const std::string &name, int64_t fallback = 0) const;
  std::vector<std::string> getList(const std::string &name) const;
  /// The text as given, or the default.
  const std::string &getText(const std::string &name) const;

  /// These with a flag given as `text`, which its kind must allow, or not
  /// given.
  FlagValues with(const std::string &name, const std::string &text) const;
  FlagValues without(const std::string &name) const;
  /// These without a flag that the file gave, which becomes one of
  /// unusedOfFile().
  FlagValues withoutFileValue(const std::string &name) const;

  const std::vector<std::string> &positionals() const { return positionalList; }
  const std::vector<std::string> &passThrough() const {
    return passThroughList;
  }
  /// Flags of the file that the command does not have or use.
  const std::vector<RunFileValue> &unusedOfFile() const { return unusedList; }
  /// The files of that use that were given. A word that the value's name
  /// spells out ("FILE|none") is no file.
  std::vector<FileUse> files(FlagFile use) const;
  /// The flags of some groups that were given, as `--name=value` in table
  /// order: equal settings give equal text. The name of a run file is left out,
  /// since its values are given themselves.
  std::vector<std::string> canonical(unsigned groups) const;
  /// The flags of the table, in its order.
  std::vector<FlagSpec> specs() const;

private:
  friend class FlagTable;
  const std::string &text(const std::string &name, FlagKind kind) const;

  struct Value {
    FlagSpec spec;
    std::string text;
    bool given = false;
    FlagOrigin origin = FlagOrigin::Default;
    std::string place = {}; // in a file
  };
  std::vector<Value> values;
  std::map<std::string, size_t> index;
  std::vector<std::string> positionalList, passThroughList;
  std::vector<RunFileValue> unusedList;
};

/// The layout of a help text.
struct HelpLayout {
  size_t columns = 80;
  /// Only flags that are common, with a last line about the others.
  bool isShort = false;
};

class FlagTable {
public:
  FlagTable() = default;
  explicit FlagTable(std::vector<FlagSpec> specs) : specs(std::move(specs)) {}
  void add(const std::vector<FlagSpec> &more) {
    specs.insert(specs.end(), more.begin(), more.end());
  }

  /// Every error is a usage error (exit 2). `--` ends the flags. With the flag
  /// `--config`, the values of its file are added (RunFile.h).
  Expected<FlagValues> parse(const std::vector<std::string> &args,
                             const FlagParseOptions &options = {}) const;

  /// Aligned lines for a terminal below the headings of topics, and Markdown
  /// tables.
  std::string help(unsigned groups = AllFlags,
                   const HelpLayout &layout = {}) const;
  std::string markdown(unsigned groups = AllFlags) const;

  const FlagSpec *find(const std::string &name) const;
  const FlagSpec *findShort(const std::string &name) const;
  /// The name in some groups that `name` is perhaps a misspelling of: at most
  /// two letters and a third of them are wrong. "" if there is none.
  std::string nearest(const std::string &name,
                      unsigned groups = AllFlags) const;
  const std::vector<FlagSpec> &flags() const { return specs; }

  /// Mistakes in the table itself (double names, bad defaults): for its test.
  Status checkTable() const;

private:
  Status addFile(FlagValues &values, const FlagParseOptions &options) const;

  std::vector<FlagSpec> specs;
};

/// `--help` and `-h`, which every command has.
FlagSpec helpFlag(FlagGroup group);
/// The same with `--help-all`, for a table whose flags have topics.
std::vector<FlagSpec> helpFlags(FlagGroup group);
/// The layout that the flags of helpFlags() ask for, on this standard output;
/// none if they were not given.
std::optional<HelpLayout> askedHelp(const FlagValues &flags);

/// `--config` and `--print-config`: flags in a file.
std::vector<FlagSpec> configFlags(FlagGroup group);

/// The headings of topics in help texts, in their order.
const std::vector<std::pair<FlagTopic, const char *>> &flagTopics();

/// "  USAGE      text" with the text wrapped, and a line end.
std::string helpLine(const std::string &usage, const std::string &text,
                     size_t columns);

/// Adds flags below a heading.
template <typename Flags>
void appendFlags(std::vector<FlagSpec> &all, const Flags &flags,
                 FlagTopic topic) {
  for (FlagSpec spec : flags) {
    spec.topic = topic;
    all.push_back(spec);
  }
}
/// Makes the named flags common. A name without a flag is a mistake in the
/// program.
void markCommon(std::vector<FlagSpec> &flags,
                std::initializer_list<std::string_view> names);

std::string lowerCase(std::string text);

/// The flag of weft that a name in another spelling stands for: "--Save_Dir"
/// without its dashes is "save-dir".
std::string kebabCase(const std::string &name);

/// The choice among "f32|f16|bf16" that `text` is another spelling of, such as
/// "FP16"; `text` itself if it is none.
std::string canonicalChoice(const std::string &choices,
                            const std::string &text);

/// An argument that a table has no flag for.
struct UnknownFlag {
  std::string shown; // "--learning_rate"
  std::string name;  // "learning_rate"
  std::string value; // "3e-4", or "" if none was found
};

/// The usage error for an unknown flag. Its hint names the flag that was meant:
/// in another spelling, of another command, or by the name that another tool
/// has for it.
Error unknownFlagError(const UnknownFlag &flag, const FlagTable &table,
                       const FlagParseOptions &options);

/// A value that has one spelling in weft and more elsewhere, in weft's.
std::string canonicalFlagValue(const FlagSpec &spec, const std::string &text);

/// Whether `text` is a value of this flag; the error names flag, value and
/// rule.
Status checkFlagValue(const FlagSpec &spec, const std::string &text);
/// The values that a flag expects, for its messages: "a number from 0 to 1".
std::string expectedText(const FlagSpec &spec);
/// Bytes with an optional unit: K, M, G, T and KiB, MiB, GiB, TiB are powers of
/// 1024, KB (or kB), MB, GB, TB powers of 1000. A unit may have a fraction of
/// up to six digits before it ("1.5G"), rounded down to whole bytes. False when
/// malformed or too large.
bool parseByteCount(const std::string &text, int64_t &bytes);

} // namespace weft

#endif // WEFT_BASE_FLAGS_H
