//===- FlagsUnknown.cpp - Answers to flags that a command does not have ---===//

#include "weft/Base/FlagNames.h"
#include "weft/Base/Flags.h"

namespace weft {

static FlagSpec choice(const char *name, FlagGroup group, const char *choices) {
  return {name, FlagKind::Enum, group, "", "", "", choices};
}

static FlagSpec integer(const char *name, double least,
                        double most = std::numeric_limits<double>::infinity()) {
  return {name, FlagKind::Int, CompileFlag, "", "", "", "", least, most};
}

static FlagSpec anyNumber(const char *name, FlagKind kind) {
  return {name, kind, CompileFlag, "", "", ""};
}

static std::vector<FlagSpec> valueRules() {
  return {
      choice("precision", CompileFlag, "f32|f16|bf16"),
      choice("recipe", CompileFlag, "amp|llm|pure-f16"),
      choice("grad-dtype", CompileFlag, "f32|torch"),
      choice("numerics", CompileFlag, "strict|fast"),
      choice("epilogues", CompileFlag, "on|off"),
      choice("scaler", CompileFlag,
             "torch|deepspeed|mmcv|deepspeed_fused|colossalai"),
      choice("master-weights", CompileFlag, "on|off"),
      choice("working-copies", CompileFlag, "on|off"),
      choice("optimizer", CompileFlag, "adamw|adam|sgd"),
      choice("clip-norm", CompileFlag, "1|2|3|inf"),
      choice("accumulation", CompileFlag, "on|off"),
      choice("sync", CompileFlag, "each|last"),
      choice("reduce-dtype", CompileFlag, "auto|f32|f16|bf16"),
      choice("gather-dtype", CompileFlag, "auto|f32|f16|bf16"),
      choice("comm-streams", CompileFlag, "auto|1|2"),
      choice("reduction", CompileFlag, "auto|ordered|native"),
      choice("device", CompileFlag, "a100|a100-80g|h100|h100-nvl|h200|b200"),
      choice("attention", CompileFlag, "auto|own|cudnn"),
      choice("explain", CompileFlag, "precision|schedule|fusion|sharding"),
      choice("lr-schedule", RunFlag, "constant|linear|cosine|wsd"),
      choice("data-format", RunFlag, "auto|text|u16|u32"),
      choice("tokenizer", RunFlag, "auto|bytes"),
      choice("progress", RunFlag, "auto|bar|line|json|none"),
      choice("gather", RunFlag, "auto|sm|ce"),
      integer("batch", 1),
      integer("seq", 1),
      anyNumber("scaler-init", FlagKind::Double),
      anyNumber("scaler-growth", FlagKind::Double),
      anyNumber("scaler-backoff", FlagKind::Double),
      anyNumber("scaler-interval", FlagKind::Int),
      anyNumber("scaler-hysteresis", FlagKind::Int),
      anyNumber("scaler-min", FlagKind::Double),
      anyNumber("memory-limit", FlagKind::Bytes),
      integer("zero", 0, 3),
      integer("shard-align", 1, 1 << 20),
      integer("shard-min", 0),
      integer("prefetch", 0, 64),
      integer("prefetch-backward", 0, 64),
      integer("prefetch-max", 1, 64),
      integer("threads-max", 1, 1024),
  };
}

/// The rule for the values of a flag, where a word or a number can be wrong;
/// null for other flags. Name, kind, choices and range are set. A compiled
/// program and `weft compile` have no table of each other's flags. A test
/// compares the rules with the tables of the commands.
static const FlagSpec *findValueRule(const std::string &name) {
  static const std::vector<FlagSpec> rules = valueRules();
  for (const FlagSpec &rule : rules)
    if (name == rule.name)
      return &rule;
  return nullptr;
}

namespace {
/// Answers one flag.
class UnknownAnswer {
public:
  UnknownAnswer(const UnknownFlag &flag, const FlagTable &table,
                const FlagParseOptions &options)
      : flag(flag), table(table), options(options), name(kebabCase(flag.name)) {
  }

  Error error() const;

private:
  bool isHere(const std::string &name) const {
    const FlagSpec *spec = table.find(name);
    return spec && (spec->group & options.groups);
  }
  std::string spelled(const FlagName &known) const;
  std::string compiledValue(const std::string &name) const;
  std::string neededFlags(const FlagName &known) const;
  std::string placeOf(const FlagName &known, const std::string &given) const;
  Error elsewhere(const FlagName &known, const std::string &given) const;
  std::string foreign(const ForeignName &entry) const;
  std::string negated(const ForeignName &entry) const;
  Error ofWeft(const FlagName &known) const;
  Error ofOtherTools() const;

  const UnknownFlag &flag;
  const FlagTable &table;
  const FlagParseOptions &options;
  const std::string name;
};
} // namespace

static const char *groupText(FlagGroup group) {
  switch (group) {
  case CompileFlag:
    return "a compile flag";
  case RunFlag:
    return "a run flag";
  default:
    return "a flag of weft compile";
  }
}

/// "--precision=f32|f16|bf16" or "--target=...": a value must be chosen.
static std::string withPlaceholder(const FlagName &known) {
  const FlagSpec *rule = findValueRule(known.name);
  return "--" + std::string(known.name) + "=" +
         (rule && *rule->choices ? rule->choices : "...");
}

/// Whether the flag takes the value. Where no rule is known, any value is
/// taken.
static bool takesValue(const FlagName &known, const std::string &value) {
  const FlagSpec *rule = findValueRule(known.name);
  return !rule ||
         checkFlagValue(*rule, *rule->choices
                                   ? canonicalChoice(rule->choices, value)
                                   : value)
             .ok();
}

/// "--batch=4", as it was given, if the flag takes the value.
std::string UnknownAnswer::spelled(const FlagName &known) const {
  if (known.isSwitch)
    return "--" + std::string(known.name);
  if (flag.value.empty() || !takesValue(known, flag.value))
    return withPlaceholder(known);
  return "--" + std::string(known.name) + "=" + printable(flag.value, 80);
}

/// "--batch=8", as the program was compiled; "" if that is not known.
std::string UnknownAnswer::compiledValue(const std::string &name) const {
  if (!options.compiledWith)
    return "";
  auto found = options.compiledWith->find(name);
  return found == options.compiledWith->end()
             ? ""
             : "--" + name + "=" + found->second;
}

/// Flags that must stand beside it, with a blank behind them: stages of ZeRO
/// shard over the ranks of a mesh.
std::string UnknownAnswer::neededFlags(const FlagName &known) const {
  if (known.name != std::string("zero") || flag.value == "0")
    return "";
  const std::string mesh = compiledValue("mesh");
  return (mesh.empty() ? "--mesh=..." : mesh) + " ";
}

/// Where a flag of another command belongs; `given` is how to give it there.
std::string UnknownAnswer::placeOf(const FlagName &known,
                                   const std::string &given) const {
  if (known.group == RunFlag)
    return "./PROGRAM " + given + " takes it, and so does weft train";
  if (options.compiledWith)
    return known.group == CompileFlag
               ? "weft compile MODEL " + neededFlags(known) + given +
                     " makes a program with it"
               : "weft compile MODEL " + given + " takes it";
  return known.group == CompileFlag ? "weft compile and weft train take it"
                                    : "weft compile takes it";
}

/// A flag of weft, not of this command; `given` is how to give it there.
Error UnknownAnswer::elsewhere(const FlagName &known,
                               const std::string &given) const {
  const std::string value = compiledValue(known.name);
  std::string message = "flag '--" + std::string(known.name) + "' is " +
                        groupText(known.group) + " and has no effect here";
  if (!value.empty())
    message += ": the program was compiled with " + value;
  if (!value.empty() && value == given)
    return usageError(message).hint("leave it out");
  return usageError(message).hint(placeOf(known, given));
}

/// The hint for a flag of another tool.
std::string UnknownAnswer::foreign(const ForeignName &entry) const {
  const std::string answer = entry.answer;
  const std::string own = answer.substr(0, answer.find('='));
  std::string text = describeForeign(entry);
  const FlagName *known = findFlagName(own);
  if (answer.empty() || isHere(own) || !known)
    return text;
  // A value can be copied where only the name differs.
  const std::string given = own != answer || known->isSwitch ? "--" + answer
                            : *entry.text ? withPlaceholder(*known)
                                          : spelled(*known);
  text += "; it is " + std::string(groupText(known->group));
  const std::string value = compiledValue(own);
  return text + (value.empty() ? ": " : ", compiled with " + value + ": ") +
         placeOf(*known, given);
}

/// The switch that `--no-NAME` turns off, if one has that name.
static const FlagName *findNegatedName(const std::string &name) {
  if (name.compare(0, 3, "no-") != 0)
    return nullptr;
  const FlagName *known = findFlagName(name.substr(3));
  return known && known->isSwitch ? known : nullptr;
}

/// The hint for `--no-NAME`, where `entry` answers `--NAME`.
std::string UnknownAnswer::negated(const ForeignName &entry) const {
  const std::string answer = entry.answer;
  const std::string own = answer.substr(0, answer.find('='));
  const FlagName *known = findFlagName(own);
  if (!known)
    return describeForeign(entry);
  if (known->isSwitch)
    return "weft's flag is '--no-" + own + "'";
  if (compiledValue(own) == "--" + answer)
    return "the program was compiled with --" + answer +
           ", weft compile MODEL makes one without it";
  return "leave it out: only '--" + answer + "' turns it on";
}

/// A flag of weft, not of this command. A command may have a flag that is
/// nearly spelt like one of `weft compile`.
Error UnknownAnswer::ofWeft(const FlagName &known) const {
  const std::string near = known.group == DriverFlag
                               ? table.nearest(known.name, options.groups)
                               : "";
  if (!near.empty())
    return usageError("unknown flag " + inQuotes(flag.shown))
        .hint("the nearest flag is '--" + near + "'; '" + options.program +
              " --help' lists all");
  // Of another meaning elsewhere: "--device cuda".
  if (const ForeignName *entry =
          findForeignFlag(known.name + ("=" + kebabCase(flag.value))))
    return usageError("flag '--" + std::string(known.name) + "' is " +
                      groupText(known.group) + " and has no effect here")
        .hint(foreign(*entry));
  return elsewhere(known, spelled(known));
}

/// A flag of another tool, or of none.
Error UnknownAnswer::ofOtherTools() const {
  Error error = usageError("unknown flag " + inQuotes(flag.shown));
  if (const ForeignName *entry = findForeignFlag(name))
    return error.hint(foreign(*entry));
  if (name.compare(0, 3, "no-") == 0)
    if (const ForeignName *entry = findForeignFlag(name.substr(3)))
      return error.hint(negated(*entry));
  const std::string near = table.nearest(name, options.groups);
  if (near.empty())
    return error.hint("run '" + options.program + " --help' for the flags");
  return error.hint("the nearest flag is '--" + near + "'; '" +
                    options.program + " --help' lists all");
}

Error UnknownAnswer::error() const {
  if (const FlagName *negated = findNegatedName(name))
    return isHere(negated->name)
               ? usageError("unknown flag " + inQuotes(flag.shown))
                     .hint("weft writes it '--" + name + "'")
               : elsewhere(*negated, "--" + name);
  const FlagName *known = findFlagName(name);
  const std::string own = known ? known->name : name;
  if (isHere(own))
    return usageError("unknown flag " + inQuotes(flag.shown))
        .hint("weft writes it '--" + own + "'");
  return known ? ofWeft(*known) : ofOtherTools();
}

Error unknownFlagError(const UnknownFlag &flag, const FlagTable &table,
                       const FlagParseOptions &options) {
  return UnknownAnswer(flag, table, options).error();
}

} // namespace weft
