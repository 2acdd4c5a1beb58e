//===- FlagsParse.cpp - Parsing of the command line -----------------------===//

#include "weft/Base/RunFile.h"

#include <algorithm>

using namespace weft;

namespace {

/// One run over the arguments.
class Parse {
public:
  Parse(const FlagTable &table, const std::vector<std::string> &args,
        const FlagParseOptions &options)
      : table(table), args(args), options(options) {}

  /// Reads one flag and its value.
  Status flag(const std::string &arg);
  /// Puts the value where the flag's values go: only lists may repeat.
  Status store(bool &given, std::string &text) const;

  size_t position = 0;
  const FlagSpec *spec = nullptr;
  std::string value;

private:
  std::string valueOf(const std::string &arg) const;
  Status takeValue(bool inlineValue, const std::string &shown);
  Status turnOff(bool inlineValue, const std::string &shown);

  const FlagTable &table;
  const std::vector<std::string> &args;
  const FlagParseOptions &options;
};

} // namespace

/// The value of an unknown flag: the next argument, unless it looks like a
/// flag.
std::string Parse::valueOf(const std::string &arg) const {
  if (size_t equals = arg.find('='); equals != arg.npos)
    return arg.substr(equals + 1);
  if (position + 1 >= args.size())
    return "";
  const std::string &next = args[position + 1];
  return next.compare(0, 1, "-") == 0 ? "" : next;
}

std::string weft::canonicalFlagValue(const FlagSpec &spec,
                                     const std::string &text) {
  return spec.kind == FlagKind::Enum     ? canonicalChoice(spec.choices, text)
         : spec.kind == FlagKind::Switch ? canonicalChoice("on|off", text)
                                         : text;
}

Status Parse::takeValue(bool inlineValue, const std::string &shown) {
  if (spec->kind == FlagKind::Switch && !inlineValue) {
    value = "on";
    return Status::success();
  }
  if (!inlineValue) {
    bool missing = position + 1 >= args.size();
    // The name of another flag is a forgotten value; "-1" is a number.
    if (!missing && args[position + 1].compare(0, 2, "--") == 0)
      missing = true;
    if (missing)
      return usageError("flag '" + shown + "' expects " + expectedText(*spec) +
                        ", but got nothing");
    value = args[++position];
  }
  value = canonicalFlagValue(*spec, value);
  return checkFlagValue(*spec, value);
}

/// An argument that nothing takes. Behind a switch, other tools write a value.
static Error unexpected(const std::string &arg, const std::string &before,
                        const FlagTable &table,
                        const FlagParseOptions &options) {
  Error error = usageError("unexpected argument " + inQuotes(arg));
  const FlagSpec *spec =
      before.compare(0, 2, "--") == 0 ? table.find(before.substr(2)) : nullptr;
  const bool isSwitch = spec && spec->kind == FlagKind::Switch;
  const std::string value = isSwitch ? canonicalFlagValue(*spec, arg) : "";
  if (value == "on" || value == "off")
    return error.hint("write " + before + "=" + value);
  return error.hint("run '" + options.program + " --help' for the usage");
}

/// `--no-NAME` is `--NAME=off` and has no value of its own.
Status Parse::turnOff(bool inlineValue, const std::string &shown) {
  if (inlineValue)
    return usageError("flag '" + shown + "' expects no value, but got " +
                      inQuotes(value));
  value = "off";
  return Status::success();
}

/// The switch that `--no-NAME` turns off, unless the table has that name.
static const FlagSpec *findNegated(const FlagTable &table,
                                   const std::string &name) {
  if (name.compare(0, 3, "no-") != 0)
    return nullptr;
  const FlagSpec *spec = table.find(name.substr(3));
  return spec && spec->kind == FlagKind::Switch ? spec : nullptr;
}

Status Parse::flag(const std::string &arg) {
  bool isLong = arg.compare(0, 2, "--") == 0;
  size_t equals = arg.find('=');
  std::string shown = arg.substr(0, equals);
  std::string name = shown.substr(isLong ? 2 : 1);
  spec = isLong ? table.find(name) : table.findShort(name);
  // A command with few flags has one help text.
  if (isLong && !spec && name == "help-all")
    spec = table.find("help");
  const FlagSpec *negated =
      isLong && !spec ? findNegated(table, name) : nullptr;
  if (negated)
    spec = negated;
  if (!spec || !(spec->group & options.groups))
    return unknownFlagError(
        {shown, negated ? negated->name : name, valueOf(arg)}, table, options);
  value = equals == arg.npos ? "" : arg.substr(equals + 1);
  return negated ? turnOff(equals != arg.npos, shown)
                 : takeValue(equals != arg.npos, shown);
}

Status Parse::store(bool &given, std::string &text) const {
  if (given && spec->kind != FlagKind::List)
    return usageError("flag '--" + std::string(spec->name) +
                      "' is given twice: " + inQuotes(text) + " and " +
                      inQuotes(value));
  text = given ? text + "," + value : value;
  given = true;
  return Status::success();
}

const FlagSpec *FlagTable::find(const std::string &name) const {
  for (const FlagSpec &spec : specs)
    if (name == spec.name)
      return &spec;
  return nullptr;
}

const FlagSpec *FlagTable::findShort(const std::string &name) const {
  for (const FlagSpec &spec : specs)
    if (!name.empty() && name == spec.shortName)
      return &spec;
  return nullptr;
}

std::string FlagTable::nearest(const std::string &name, unsigned groups) const {
  if (name.size() < 2)
    return "";
  std::string best;
  size_t least = std::min<size_t>(2, std::max<size_t>(1, name.size() / 3)) + 1;
  for (const FlagSpec &spec : specs) {
    size_t distance =
        editDistance(std::string_view(name).substr(0, 64), spec.name);
    if ((spec.group & groups) && distance < least) {
      least = distance;
      best = spec.name;
    }
  }
  return best;
}

Expected<FlagValues> FlagTable::parse(const std::vector<std::string> &args,
                                      const FlagParseOptions &options) const {
  FlagValues result;
  for (const FlagSpec &spec : specs) {
    result.index[spec.name] = result.values.size();
    result.values.push_back({spec, spec.defaultText, false});
  }
  Parse parse(*this, args, options);
  bool flagsEnded = false;
  const std::string prefix = "--" + options.passThroughPrefix;
  for (; parse.position < args.size(); ++parse.position) {
    const std::string &arg = args[parse.position];
    if (!flagsEnded && arg == "--") {
      flagsEnded = true;
      continue;
    }
    if (flagsEnded || arg.size() < 2 || arg[0] != '-') {
      if (result.positionalList.size() == options.maxPositionals)
        return unexpected(arg,
                          parse.position > 0 ? args[parse.position - 1] : "",
                          *this, options);
      result.positionalList.push_back(arg);
      continue;
    }
    if (prefix.size() > 2 && arg.compare(0, prefix.size(), prefix) == 0) {
      result.passThroughList.push_back(arg);
      continue;
    }
    const bool isKept = parse.position < options.fromCheckpoint;
    if (Status status = parse.flag(arg); !status)
      return status.takeError();
    FlagValues::Value &slot = result.values[result.index[parse.spec->name]];
    if (Status status = parse.store(slot.given, slot.text); !status)
      return status.takeError();
    slot.origin = isKept ? FlagOrigin::Checkpoint : FlagOrigin::CommandLine;
  }
  if (Status status = addFile(result, options); !status)
    return status.takeError();
  return result;
}

//===----------------------------------------------------------------------===//
// Values of a file
//===----------------------------------------------------------------------===//

/// Two flags for the same: one on the command line takes the place of the other
/// one in a file.
static const char *otherChoice(const std::string &name) {
  static const std::pair<const char *, const char *> choices[] = {
      {"steps", "epochs"}, {"val-data", "val-fraction"}, {"to", "emit"}};
  for (const auto &[a, b] : choices)
    if (name == a || name == b)
      return name == a ? b : a;
  return nullptr;
}

Status FlagTable::addFile(FlagValues &values,
                          const FlagParseOptions &options) const {
  const FlagSpec *config = find("config");
  if (!config || !(config->group & options.groups) || !values.isSet("config"))
    return Status::success();
  auto read = readRunFile(values.getString("config"), *this, options);
  if (!read)
    return read.takeError();
  std::vector<FlagValues::Value> before = values.values;
  for (const RunFileValue &value : *read) {
    auto found = values.index.find(value.name);
    const char *other = otherChoice(value.name);
    const bool isReplaced =
        other && values.index.count(other) && before[values.index[other]].given;
    const bool isHere =
        found != values.index.end() &&
        (values.values[found->second].spec.group & options.groups);
    if (!isHere)
      values.unusedList.push_back(value);
    if (!isHere || isReplaced || before[found->second].given)
      continue;
    FlagValues::Value &slot = values.values[found->second];
    slot.text = value.text;
    slot.given = true;
    slot.origin = FlagOrigin::File;
    slot.place = value.place;
  }
  return Status::success();
}
