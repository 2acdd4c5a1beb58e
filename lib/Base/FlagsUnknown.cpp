//===- FlagsUnknown.cpp - Answers to flags that a command does not have ---===//

#include "weft/Base/FlagNames.h"
#include "weft/Base/Flags.h"

using namespace weft;

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
  std::string spelled(const FlagSpec &known) const;
  std::string compiledValue(const std::string &name) const;
  std::string neededFlags(const FlagSpec &known) const;
  std::string placeOf(const FlagSpec &known, const std::string &given) const;
  Error elsewhere(const FlagSpec &known, const std::string &given) const;
  std::string foreign(const ForeignName &entry) const;
  std::string negated(const ForeignName &entry) const;
  std::string nearestText(const std::string &near) const;
  Error ofWeft(const FlagSpec &known) const;
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
static std::string withPlaceholder(const FlagSpec &known) {
  const bool hasChoices = *known.choices && known.group != DriverFlag;
  return "--" + std::string(known.name) + "=" +
         (hasChoices ? known.choices : "...");
}

/// Whether the flag takes the value. Any number is taken for a run flag.
static bool takesValue(const FlagSpec &known, const std::string &value) {
  if (known.group == DriverFlag)
    return true;
  if (known.kind == FlagKind::Enum)
    return checkFlagValue(known, canonicalChoice(known.choices, value)).ok();
  return known.group == RunFlag || checkFlagValue(known, value).ok();
}

/// "--batch=4", as it was given, if the flag takes the value.
std::string UnknownAnswer::spelled(const FlagSpec &known) const {
  if (known.kind == FlagKind::Switch)
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
std::string UnknownAnswer::neededFlags(const FlagSpec &known) const {
  if (known.name != std::string_view("zero") || flag.value == "0")
    return "";
  const std::string mesh = compiledValue("mesh");
  return (mesh.empty() ? "--mesh=..." : mesh) + " ";
}

/// Where a flag of another command belongs; `given` is how to give it there.
std::string UnknownAnswer::placeOf(const FlagSpec &known,
                                   const std::string &given) const {
  if (known.group == RunFlag)
    return "./PROGRAM " + given + " takes it, and so does weft train";
  if (options.compiledWith)
    return known.group == CompileFlag
               ? "weft compile MODEL " + neededFlags(known) + given +
                     " makes a program with it"
               : "weft compile MODEL " + given + " takes it";
  if (known.name == std::string_view("inference"))
    return "weft compile takes it; weft generate, evaluate and predict imply "
           "it";
  return known.group == CompileFlag ? "weft compile and weft train take it"
                                    : "weft compile takes it";
}

/// A flag of weft, not of this command; `given` is how to give it there.
Error UnknownAnswer::elsewhere(const FlagSpec &known,
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
  const FlagSpec *known = findFlagName(own);
  if (answer.empty() || isHere(own) || !known)
    return text;
  // A value can be copied where only the name differs.
  const std::string given = own != answer || known->kind == FlagKind::Switch
                                ? "--" + answer
                            : *entry.text ? withPlaceholder(*known)
                                          : spelled(*known);
  text += "; it is " + std::string(groupText(known->group));
  const std::string value = compiledValue(own);
  return text + (value.empty() ? ": " : ", compiled with " + value + ": ") +
         placeOf(*known, given);
}

/// The switch that `--no-NAME` turns off, if one has that name.
static const FlagSpec *findNegatedName(const std::string &name) {
  if (name.compare(0, 3, "no-") != 0)
    return nullptr;
  const FlagSpec *known = findFlagName(name.substr(3));
  return known && known->kind == FlagKind::Switch ? known : nullptr;
}

/// The hint for `--no-NAME`, where `entry` answers `--NAME`.
std::string UnknownAnswer::negated(const ForeignName &entry) const {
  const std::string answer = entry.answer;
  const std::string own = answer.substr(0, answer.find('='));
  const FlagSpec *known = findFlagName(own);
  if (!known)
    return describeForeign(entry);
  if (known->kind == FlagKind::Switch)
    return "weft's flag is '--no-" + own + "'";
  if (compiledValue(own) == "--" + answer)
    return "the program was compiled with --" + answer +
           ", weft compile MODEL makes one without it";
  return "leave it out: only '--" + answer + "' turns it on";
}

/// The hint for a misspelled flag of this command.
std::string UnknownAnswer::nearestText(const std::string &near) const {
  const bool hasShortHelp = table.find("help-all") != nullptr;
  return "the nearest flag is '--" + near + "'; '" + options.program +
         (hasShortHelp ? " --help-all' lists all" : " --help' lists all");
}

/// A flag of weft, not of this command. A command may have a flag that is
/// nearly spelt like one of `weft compile`.
Error UnknownAnswer::ofWeft(const FlagSpec &known) const {
  const std::string near = known.group == DriverFlag
                               ? table.nearest(known.name, options.groups)
                               : "";
  if (!near.empty())
    return usageError("unknown flag " + inQuotes(flag.shown))
        .hint(nearestText(near));
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
  return error.hint(nearestText(near));
}

Error UnknownAnswer::error() const {
  if (const auto here = options.renamed.find(name);
      here != options.renamed.end())
    return usageError("unknown flag " + inQuotes(flag.shown))
        .hint(options.program + " writes it '--" + here->second + "'");
  if (const FlagSpec *negated = findNegatedName(name))
    return isHere(negated->name)
               ? usageError("unknown flag " + inQuotes(flag.shown))
                     .hint("weft writes it '--" + name + "'")
               : elsewhere(*negated, "--" + name);
  const FlagSpec *known = findFlagName(name);
  const std::string own = known ? known->name : name;
  if (isHere(own))
    return usageError("unknown flag " + inQuotes(flag.shown))
        .hint("weft writes it '--" + own + "'");
  return known ? ofWeft(*known) : ofOtherTools();
}

Error weft::unknownFlagError(const UnknownFlag &flag, const FlagTable &table,
                             const FlagParseOptions &options) {
  return UnknownAnswer(flag, table, options).error();
}
