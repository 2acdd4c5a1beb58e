//===- FlagsUnknown.cpp - Answers to flags that a command does not have ---===//

#include "weft/Formats/FlagNames.h"
#include "weft/Formats/Flags.h"

namespace weft {

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
  std::string placeOf(const FlagName &known, const std::string &given) const;
  Error elsewhere(const FlagName &known, const std::string &given) const;
  std::string foreign(const ForeignName &entry) const;

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

/// "--batch=4", as it was given; "--batch=..." without a value.
std::string UnknownAnswer::spelled(const FlagName &known) const {
  const std::string text = "--" + std::string(known.name);
  if (known.isSwitch)
    return text;
  return text + "=" + (flag.value.empty() ? "..." : printable(flag.value, 80));
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

/// Where a flag of another command belongs; `given` is how to give it there.
std::string UnknownAnswer::placeOf(const FlagName &known,
                                   const std::string &given) const {
  if (known.group == RunFlag)
    return "./PROGRAM " + given + " takes it, and so does weft train";
  if (options.compiledWith)
    return known.group == CompileFlag
               ? "weft compile MODEL " + given + " makes a program with it"
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
                            : *entry.text ? "--" + own + "=..."
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

Error UnknownAnswer::error() const {
  const std::string all = "'" + options.program + " --help' lists all";
  if (const FlagName *negated = findNegatedName(name))
    return isHere(negated->name)
               ? usageError("unknown flag " + inQuotes(flag.shown))
                     .hint("weft writes it '--" + name + "'")
               : elsewhere(*negated, "--" + name);
  const FlagName *known = findFlagName(name);
  const std::string own = known ? known->name : name;
  if (known && !isHere(own))
    return elsewhere(*known, spelled(*known));
  Error error = usageError("unknown flag " + inQuotes(flag.shown));
  if (isHere(own))
    return error.hint("weft writes it '--" + own + "'");
  if (const ForeignName *entry = findForeignFlag(name))
    return error.hint(foreign(*entry));
  std::string near = table.nearest(name, options.groups);
  if (near.empty())
    return error.hint("run '" + options.program + " --help' for the flags");
  return error.hint("the nearest flag is '--" + near + "'; " + all);
}

Error unknownFlagError(const UnknownFlag &flag, const FlagTable &table,
                       const FlagParseOptions &options) {
  return UnknownAnswer(flag, table, options).error();
}

} // namespace weft
