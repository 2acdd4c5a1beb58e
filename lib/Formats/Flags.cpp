//===- Flags.cpp - Parsing of the command line ----------------------------===//

#include "weft/Formats/Flags.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace weft {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static bool parseInteger(const std::string &text, int64_t &value) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])))
    return false;
  char *end = nullptr;
  errno = 0;
  value = std::strtoll(text.c_str(), &end, 10);
  return errno == 0 && end == text.c_str() + text.size();
}

static bool parseNumber(const std::string &text, double &value) {
  // strtod also takes spaces, hexadecimal, "nan" and "infinity": refuse these.
  if (text.find_first_not_of("0123456789+-.eE") != text.npos && text != "inf")
    return false;
  char *end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && end == text.c_str() + text.size() &&
         (std::isfinite(value) || text == "inf");
}

bool parseByteCount(const std::string &text, int64_t &bytes) {
  if (text.empty())
    return false;
  int shift = 0;
  std::string digits = text;
  switch (text.back()) {
  case 'K':
    shift = 10;
    break;
  case 'M':
    shift = 20;
    break;
  case 'G':
    shift = 30;
    break;
  }
  if (shift)
    digits.pop_back();
  if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos ||
      !parseInteger(digits, bytes))
    return false;
  if (bytes > (std::numeric_limits<int64_t>::max() >> shift))
    return false;
  bytes <<= shift;
  return true;
}

static bool isChoice(const std::string &choices, const std::string &text) {
  return !text.empty() && text.find('|') == text.npos &&
         ("|" + choices + "|").find("|" + text + "|") != std::string::npos;
}

/// A bound of a flag; its digits are all of it.
static std::string boundText(double value) { return numberText(value, 12); }

/// " from 0 to 1", " of at least 1" or nothing.
static std::string rangeText(const FlagSpec &spec) {
  if (std::isfinite(spec.least) && std::isfinite(spec.most))
    return " from " + boundText(spec.least) + " to " + boundText(spec.most);
  if (std::isfinite(spec.least))
    return " of at least " + boundText(spec.least);
  if (std::isfinite(spec.most))
    return " of at most " + boundText(spec.most);
  return "";
}

/// "f32, f16 or bf16".
static std::string choicesText(const std::string &choices) {
  std::string result;
  for (size_t begin = 0; begin <= choices.size();) {
    size_t end = std::min(choices.find('|', begin), choices.size());
    if (begin)
      result += end == choices.size() ? " or " : ", ";
    result += choices.substr(begin, end - begin);
    begin = end + 1;
  }
  return result;
}

static std::string expectedText(const FlagSpec &spec) {
  switch (spec.kind) {
  case FlagKind::Switch:
    return "on or off";
  case FlagKind::Int:
    return "an integer" + rangeText(spec);
  case FlagKind::Double:
    return "a number" + rangeText(spec);
  case FlagKind::Enum:
    return choicesText(spec.choices);
  case FlagKind::Bytes:
    return "a number of bytes such as 512K, 64M or 2G" + rangeText(spec);
  case FlagKind::String:
  case FlagKind::List:
    return "a value";
  }
  return "a value";
}

static bool fits(const FlagSpec &spec, const std::string &text) {
  int64_t integer = 0;
  double number = 0;
  switch (spec.kind) {
  case FlagKind::Switch:
    return text == "on" || text == "off";
  case FlagKind::Int:
    number = parseInteger(text, integer) ? static_cast<double>(integer) : NAN;
    break;
  case FlagKind::Double:
    number = parseNumber(text, number) ? number : NAN;
    break;
  case FlagKind::Bytes:
    number = parseByteCount(text, integer) ? static_cast<double>(integer) : NAN;
    break;
  case FlagKind::Enum:
    return isChoice(spec.choices, text);
  case FlagKind::String:
  case FlagKind::List:
    return !text.empty();
  }
  return number >= spec.least && number <= spec.most;
}

Status checkFlagValue(const FlagSpec &spec, const std::string &text) {
  if (fits(spec, text))
    return Status::success();
  return usageError("flag '--" + std::string(spec.name) + "' expects " +
                    expectedText(spec) + ", but got " + inQuotes(text));
}

//===----------------------------------------------------------------------===//
// FlagValues
//===----------------------------------------------------------------------===//

const std::string &FlagValues::getText(const std::string &name) const {
  auto found = index.find(name);
  if (found == index.end()) {
    std::fprintf(stderr, "weft: error: internal: no flag '--%s' in the table\n",
                 name.c_str());
    std::exit(static_cast<int>(ExitCode::Internal));
  }
  return values[found->second].text;
}

const std::string &FlagValues::text(const std::string &name,
                                    FlagKind kind) const {
  const std::string &result = getText(name);
  FlagKind actual = values[index.find(name)->second].spec.kind;
  bool textKinds = kind == FlagKind::String && actual == FlagKind::Enum;
  if (actual != kind && !textKinds) {
    std::fprintf(stderr,
                 "weft: error: internal: flag '--%s' is of another "
                 "kind than asked for\n",
                 name.c_str());
    std::exit(static_cast<int>(ExitCode::Internal));
  }
  return result;
}

bool FlagValues::isSet(const std::string &name) const {
  getText(name); // the name must be in the table
  return values[index.find(name)->second].given;
}

bool FlagValues::getSwitch(const std::string &name) const {
  return text(name, FlagKind::Switch) == "on";
}

int64_t FlagValues::getInt(const std::string &name, int64_t fallback) const {
  int64_t value = 0;
  return parseInteger(text(name, FlagKind::Int), value) ? value : fallback;
}

double FlagValues::getDouble(const std::string &name, double fallback) const {
  double value = 0;
  return parseNumber(text(name, FlagKind::Double), value) ? value : fallback;
}

const std::string &FlagValues::getString(const std::string &name) const {
  return text(name, FlagKind::String);
}

int64_t FlagValues::getBytes(const std::string &name, int64_t fallback) const {
  int64_t value = 0;
  return parseByteCount(text(name, FlagKind::Bytes), value) ? value : fallback;
}

std::vector<std::string> FlagValues::getList(const std::string &name) const {
  const std::string &all = text(name, FlagKind::List);
  std::vector<std::string> result;
  for (size_t begin = 0; begin < all.size();) {
    size_t end = std::min(all.find(',', begin), all.size());
    if (end > begin)
      result.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

std::vector<FileUse> FlagValues::files(FlagFile use) const {
  std::vector<FileUse> result;
  for (const Value &value : values)
    if (value.given && value.spec.file == use &&
        !isChoice(value.spec.valueName, value.text))
      result.push_back({"--" + std::string(value.spec.name), value.text});
  return result;
}

std::vector<std::string> FlagValues::canonical(unsigned groups) const {
  std::vector<std::string> result;
  for (const Value &value : values)
    if (value.given && (value.spec.group & groups))
      result.push_back("--" + std::string(value.spec.name) + "=" + value.text);
  return result;
}

//===----------------------------------------------------------------------===//
// FlagTable
//===----------------------------------------------------------------------===//

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
  Status unknown(const std::string &shown, const std::string &name) const;
  Status takeValue(bool inlineValue, const std::string &shown);

  const FlagTable &table;
  const std::vector<std::string> &args;
  const FlagParseOptions &options;
};

} // namespace

static const char *groupText(FlagGroup group) {
  switch (group) {
  case CompileFlag:
    return "a compile flag";
  case RunFlag:
    return "a run flag";
  default:
    return "a flag of the weft driver";
  }
}

Status Parse::unknown(const std::string &shown, const std::string &name) const {
  Error error = usageError("unknown flag " + inQuotes(shown));
  std::string near = table.nearest(name, options.groups);
  if (near.empty())
    return error.hint("run '" + options.program + " --help' for the flags");
  return error.hint("the nearest flag is '--" + near + "'; '" +
                    options.program + " --help' lists all");
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
  return checkFlagValue(*spec, value);
}

Status Parse::flag(const std::string &arg) {
  bool isLong = arg.compare(0, 2, "--") == 0;
  size_t equals = arg.find('=');
  std::string shown = arg.substr(0, equals);
  std::string name = shown.substr(isLong ? 2 : 1);
  spec = nullptr;
  for (const FlagSpec &candidate : table.flags())
    if (name == (isLong ? candidate.name : candidate.shortName))
      spec = &candidate;
  if (!spec || name.empty())
    return unknown(shown, name);
  if (!(spec->group & options.groups))
    return usageError("flag '" + shown + "' is " + groupText(spec->group) +
                      " and has no effect here")
        .hint("run '" + options.program + " --help' for the flags");
  value = equals == arg.npos ? "" : arg.substr(equals + 1);
  return takeValue(equals != arg.npos, shown);
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

std::string FlagTable::nearest(const std::string &name, unsigned groups) const {
  std::string best;
  size_t least = std::string::npos;
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
        return usageError("unexpected argument " + inQuotes(arg))
            .hint("run '" + options.program + " --help' for the usage");
      result.positionalList.push_back(arg);
      continue;
    }
    if (prefix.size() > 2 && arg.compare(0, prefix.size(), prefix) == 0) {
      result.passThroughList.push_back(arg);
      continue;
    }
    if (Status status = parse.flag(arg); !status)
      return status.takeError();
    FlagValues::Value &slot = result.values[result.index[parse.spec->name]];
    if (Status status = parse.store(slot.given, slot.text); !status)
      return status.takeError();
  }
  return result;
}

Expected<FlagValues> FlagTable::parse(int argc, const char *const *argv,
                                      const FlagParseOptions &options) const {
  return parse(std::vector<std::string>(argv, argv + argc), options);
}

} // namespace weft
