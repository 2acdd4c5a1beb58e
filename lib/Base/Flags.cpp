//===- Flags.cpp - The values of flags ------------------------------------===//

#include "weft/Base/Flags.h"

#include "weft/Base/FlagNames.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>

using namespace weft;

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

static bool isDigits(const std::string &text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

/// The bytes of a unit; 0 for an unknown one.
static int64_t unitBytes(const std::string &unit) {
  static const struct {
    const char *name;
    int64_t bytes;
  } units[] = {
      {"", 1},
      {"K", int64_t(1) << 10},
      {"KiB", int64_t(1) << 10},
      {"KB", 1'000},
      {"kB", 1'000},
      {"M", int64_t(1) << 20},
      {"MiB", int64_t(1) << 20},
      {"MB", 1'000'000},
      {"G", int64_t(1) << 30},
      {"GiB", int64_t(1) << 30},
      {"GB", 1'000'000'000},
      {"T", int64_t(1) << 40},
      {"TiB", int64_t(1) << 40},
      {"TB", 1'000'000'000'000},
  };
  for (const auto &entry : units)
    if (unit == entry.name)
      return entry.bytes;
  return 0;
}

bool weft::parseByteCount(const std::string &text, int64_t &bytes) {
  // Products of the largest unit with a fraction stay below 2^63.
  constexpr size_t mostFractionDigits = 6;
  const size_t end =
      std::min(text.find_first_not_of("0123456789."), text.size());
  const size_t point = std::min(text.find('.'), end);
  const std::string whole = text.substr(0, point);
  const int64_t unit = unitBytes(text.substr(end));
  int64_t count = 0;
  if (unit == 0 || !isDigits(whole) || !parseInteger(whole, count) ||
      __builtin_mul_overflow(count, unit, &count))
    return false;
  if (point < end) {
    const std::string fraction = text.substr(point + 1, end - point - 1);
    if (unit == 1 || !isDigits(fraction) ||
        fraction.size() > mostFractionDigits)
      return false;
    int64_t scale = 1;
    for (size_t i = 0; i < fraction.size(); ++i)
      scale *= 10;
    if (__builtin_add_overflow(count, std::stoll(fraction) * unit / scale,
                               &count))
      return false;
  }
  bytes = count;
  return true;
}

std::string weft::lowerCase(std::string text) {
  for (char &c : text)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string weft::kebabCase(const std::string &name) {
  std::string result = lowerCase(name);
  std::replace(result.begin(), result.end(), '_', '-');
  return result;
}

std::string weft::canonicalChoice(const std::string &choices,
                                  const std::string &text) {
  const std::string lower = lowerCase(text);
  for (const std::string &name : {text, lower, foreignValue(lower)})
    if (isChoice(choices, name))
      return name;
  return text;
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

std::string weft::expectedText(const FlagSpec &spec) {
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
    return "a number of bytes such as 512K, 1.5G, 64MiB or 2GB" +
           rangeText(spec);
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

/// Whether a flag without a largest value got an integer of too many digits.
static bool isTooLarge(const FlagSpec &spec, const std::string &text) {
  return spec.kind == FlagKind::Int && !std::isfinite(spec.most) &&
         !text.empty() &&
         text.find_first_not_of("0123456789") == std::string::npos &&
         std::strtod(text.c_str(), nullptr) > spec.least;
}

Status weft::checkFlagValue(const FlagSpec &spec, const std::string &text) {
  if (fits(spec, text))
    return Status::success();
  const std::string expected =
      isTooLarge(spec, text)
          ? "an integer of at most " +
                std::to_string(std::numeric_limits<int64_t>::max())
          : expectedText(spec);
  Error error = usageError("flag '--" + std::string(spec.name) + "' expects " +
                           expected + ", but got " + inQuotes(text));
  const ForeignName *meant =
      findForeignFlag(spec.name + ("=" + lowerCase(text)));
  return meant ? error.hint(describeForeign(*meant)) : error;
}

//===----------------------------------------------------------------------===//
// FlagValues
//===----------------------------------------------------------------------===//

/// A mistake in the program.
[[noreturn]] static void misuse(const char *what, const std::string &flag,
                                const char *how) {
  std::fprintf(stderr, "weft: error: internal: %s '--%s' %s\n", what,
               flag.c_str(), how);
  std::exit(static_cast<int>(ExitCode::Internal));
}

const std::string &FlagValues::getText(const std::string &name) const {
  auto found = index.find(name);
  if (found == index.end())
    misuse("no flag", name, "in the table");
  return values[found->second].text;
}

const std::string &FlagValues::text(const std::string &name,
                                    FlagKind kind) const {
  const std::string &result = getText(name);
  FlagKind actual = values[index.find(name)->second].spec.kind;
  bool textKinds = kind == FlagKind::String && actual == FlagKind::Enum;
  if (actual != kind && !textKinds)
    misuse("flag", name, "is of another kind than asked for");
  return result;
}

bool FlagValues::isSet(const std::string &name) const {
  getText(name); // the name must be in the table
  return values[index.find(name)->second].given;
}

FlagOrigin FlagValues::origin(const std::string &name) const {
  getText(name); // the name must be in the table
  return values[index.find(name)->second].origin;
}

std::string FlagValues::originText(const std::string &name) const {
  switch (origin(name)) {
  case FlagOrigin::Default:
    return "default";
  case FlagOrigin::Checkpoint:
    return "checkpoint";
  case FlagOrigin::File:
    return values[index.find(name)->second].place;
  case FlagOrigin::CommandLine:
    return "command line";
  }
  return "default";
}

std::vector<FlagSpec> FlagValues::specs() const {
  std::vector<FlagSpec> result;
  for (const Value &value : values)
    result.push_back(value.spec);
  return result;
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

/// The parts between commas that are not empty.
static std::vector<std::string> splitList(const std::string &all) {
  std::vector<std::string> result;
  for (size_t begin = 0; begin < all.size();) {
    size_t end = std::min(all.find(',', begin), all.size());
    if (end > begin)
      result.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

std::vector<std::string> FlagValues::getList(const std::string &name) const {
  return splitList(text(name, FlagKind::List));
}

std::vector<FileUse> FlagValues::files(FlagFile use) const {
  std::vector<FileUse> result;
  for (const Value &value : values) {
    if (!value.given || value.spec.file != use)
      continue;
    const bool isList = value.spec.kind == FlagKind::List;
    for (const std::string &path :
         isList ? splitList(value.text) : std::vector{value.text})
      if (!isChoice(value.spec.valueName, path))
        result.push_back({"--" + std::string(value.spec.name), path});
  }
  return result;
}

FlagValues FlagValues::with(const std::string &name,
                            const std::string &text) const {
  FlagValues result = *this;
  Value &value = result.values[index.at(name)];
  value.text = text;
  value.given = true;
  value.origin = FlagOrigin::CommandLine;
  return result;
}

FlagValues FlagValues::without(const std::string &name) const {
  FlagValues result = *this;
  Value &value = result.values[index.at(name)];
  value.text = value.spec.defaultText;
  value.given = false;
  value.origin = FlagOrigin::Default;
  return result;
}

FlagValues FlagValues::withoutFileValue(const std::string &name) const {
  FlagValues result = without(name);
  const Value &value = values[index.at(name)];
  result.unusedList.push_back({name, value.text, value.place});
  return result;
}

std::vector<std::string> FlagValues::canonical(unsigned groups) const {
  std::vector<std::string> result;
  for (const Value &value : values)
    if (value.given && (value.spec.group & groups) &&
        value.spec.name != std::string_view("config"))
      result.push_back("--" + std::string(value.spec.name) + "=" + value.text);
  return result;
}
