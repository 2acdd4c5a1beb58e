//===- RunFile.cpp - Flags from a file in TOML ----------------------------===//

#include "weft/Base/RunFile.h"

#include "weft/Base/FlagNames.h"
#include "weft/Base/InputFile.h"

#include <algorithm>
#include <cstdlib>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

using namespace weft;

/// People write these files; a larger one is another file by mistake.
static constexpr int64_t kMostFileBytes = int64_t(1) << 20;

bool weft::isOnlyOnCommandLine(const std::string &name) {
  for (const char *flag :
       {"help", "help-all", "version", "config", "print-config"})
    if (name == flag)
      return true;
  return false;
}

namespace {
/// Reads one file.
class RunFileReader {
public:
  RunFileReader(const std::string &path, const std::string &text,
                const FlagTable &table, const FlagParseOptions &options)
      : path(path), text(text), table(table), options(options) {}

  Expected<std::vector<RunFileValue>> read();

private:
  struct Entry {
    std::string table, key;
    const toml::node *node;
    toml::source_position at;
  };

  std::string placeOf(toml::source_position at) const;
  Error located(Error error, toml::source_position at) const {
    return error.at(placeOf(at) + ":" + std::to_string(at.column));
  }
  Status collect(const toml::table &parsed);
  Status checkTableName(const std::string &name,
                        toml::source_position at) const;
  const FlagSpec *findSpec(const std::string &key) const;
  Error unknownKey(const Entry &entry) const;
  Status checkPlace(const Entry &entry, const FlagSpec &spec) const;
  Status add(const Entry &entry);
  Expected<std::string> textOf(const FlagSpec &spec,
                               const toml::node &node) const;
  Expected<std::string> listText(const FlagSpec &spec,
                                 const toml::array &array) const;
  std::string floatText(const toml::node &node) const;

  const std::string &path, &text;
  const FlagTable &table;
  const FlagParseOptions &options;
  std::vector<Entry> entries;
  std::vector<RunFileValue> values;
};
} // namespace

std::string RunFileReader::placeOf(toml::source_position at) const {
  return path + ":" + std::to_string(at.line);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static const char *kindOf(const toml::node &node) {
  switch (node.type()) {
  case toml::node_type::table:
    return "a table";
  case toml::node_type::array:
    return "an array";
  case toml::node_type::string:
    return "a string";
  case toml::node_type::boolean:
    return "a boolean";
  case toml::node_type::integer:
  case toml::node_type::floating_point:
    return "a number";
  default:
    return "a date or time";
  }
}

static Error otherKind(const FlagSpec &spec, const char *got) {
  const bool isText =
      spec.kind == FlagKind::String && !isChoice(spec.valueName, "on");
  const std::string expected =
      isText                          ? "a string"
      : spec.kind == FlagKind::List   ? "a string or an array of strings"
      : spec.kind == FlagKind::Switch ? "true or false"
                                      : expectedText(spec);
  return usageError("flag '--" + std::string(spec.name) + "' expects " +
                    expected + ", but got " + got);
}

/// The number as the file spells it, as a command line would: equal spellings
/// make equal programs.
std::string RunFileReader::floatText(const toml::node &node) const {
  const double value = *node.value_exact<double>();
  const toml::source_region &source = node.source();
  size_t line = 0;
  for (toml::source_index i = 1; i < source.begin.line; ++i)
    line = std::min(text.find('\n', line), text.size() - 1) + 1;
  std::string spelled;
  const size_t begin = line + source.begin.column - 1;
  for (size_t i = begin;
       i < text.size() &&
       std::string_view("0123456789+-.eE_infa").find(text[i]) !=
           std::string_view::npos;
       ++i)
    if (text[i] != '_')
      spelled += text[i];
  if (spelled == "+inf")
    spelled = "inf";
  char *end = nullptr;
  const double again = std::strtod(spelled.c_str(), &end);
  // Behind letters of several bytes, the column is not the byte.
  const bool isSame = !spelled.empty() && !*end &&
                      (again == value || (again != again && value != value));
  return isSame ? spelled : numberText(value, 17);
}

/// The parts of the list. On the command line a comma ends one.
Expected<std::string> RunFileReader::listText(const FlagSpec &spec,
                                              const toml::array &array) const {
  std::string all;
  for (const toml::node &part : array) {
    const std::string *text =
        part.as_string() ? &part.as_string()->get() : nullptr;
    if (!text)
      return otherKind(spec,
                       ("an array with " + std::string(kindOf(part))).c_str());
    if (text->find(',') != std::string::npos)
      return usageError("flag '--" + std::string(spec.name) +
                        "' expects a comma only between values, but got " +
                        inQuotes(*text) + " in an array")
          .hint("write two strings in the array");
    all += (all.empty() ? "" : ",") + *text;
  }
  return all;
}

/// The text that the command line would have for the value.
Expected<std::string> RunFileReader::textOf(const FlagSpec &spec,
                                            const toml::node &node) const {
  const FlagKind kind = spec.kind;
  const bool isNumber = kind == FlagKind::Int || kind == FlagKind::Double;
  if (const toml::array *array = node.as_array())
    return kind == FlagKind::List ? listText(spec, *array)
                                  : otherKind(spec, "an array");
  if (const auto *string = node.as_string())
    return isNumber ? otherKind(spec, "a string")
                    : Expected<std::string>(string->get());
  if (const auto *boolean = node.as_boolean()) {
    const bool takesSwitch = kind == FlagKind::Switch ||
                             isChoice(spec.choices, "on") ||
                             isChoice(spec.valueName, "on");
    return takesSwitch ? Expected<std::string>(boolean->get() ? "on" : "off")
                       : otherKind(spec, "a boolean");
  }
  const bool takesNumbers =
      isNumber || kind == FlagKind::Enum || kind == FlagKind::Bytes ||
      (kind == FlagKind::String && spec.file == FlagFile::None);
  if (!node.is_number() || !takesNumbers)
    return otherKind(spec, kindOf(node));
  if (const auto *integer = node.as_integer())
    return std::to_string(integer->get());
  return floatText(node);
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

std::string weft::fileTableOf(const FlagSpec &spec) {
  for (const auto &[topic, title] : flagTopics())
    if (topic == spec.topic) {
      std::string name = lowerCase(title);
      std::replace(name.begin(), name.end(), ' ', '-');
      return name;
    }
  return "";
}

/// The flag of this command, or of another one.
const FlagSpec *RunFileReader::findSpec(const std::string &key) const {
  const FlagSpec *own = table.find(key);
  if (own && (own->group & options.groups))
    return own;
  const FlagSpec *other = findFlagName(key);
  return other && other->name == key ? other : nullptr;
}

Error RunFileReader::unknownKey(const Entry &entry) const {
  FlagTable all;
  for (const FlagSpec &spec : table.flags())
    if (spec.group & options.groups)
      all.add({spec});
  for (const auto &more : {runFlagSpecs(), compileFlags(), driverFlags()})
    for (const FlagSpec &spec : more)
      if (!all.find(spec.name))
        all.add({spec});
  FlagParseOptions here;
  here.program = options.program;
  const FlagSpec *negated =
      entry.key.rfind("no-", 0) == 0 ? all.find(entry.key.substr(3)) : nullptr;
  if (negated && negated->kind == FlagKind::Switch)
    return usageError("unknown flag " + inQuotes(entry.key))
        .hint("write " + std::string(negated->name) + " = false");
  return unknownFlagError({entry.key, entry.key, ""}, all, here);
}

Status RunFileReader::checkTableName(const std::string &name,
                                     toml::source_position at) const {
  std::vector<std::string> names;
  FlagSpec probe = {};
  for (const auto &[topic, title] : flagTopics()) {
    probe.topic = topic;
    names.push_back(fileTableOf(probe));
    if (names.back() == name)
      return Status::success();
  }
  const std::string near = similarName(name, names);
  return located(usageError("unknown table " + inQuotes(name))
                     .hint(near.empty()
                               ? "tables have the names of the headings of '" +
                                     options.program +
                                     " --help', such as [loss-scale]"
                               : "the nearest table is [" + near + "]"),
                 at);
}

/// A flag may stand in the table of its own heading.
Status RunFileReader::checkPlace(const Entry &entry,
                                 const FlagSpec &spec) const {
  const FlagSpec *shared = findFlagName(entry.key);
  const std::string own = fileTableOf(spec),
                    other = shared ? fileTableOf(*shared) : own;
  if (entry.table.empty() || entry.table == own || entry.table == other)
    return Status::success();
  return usageError("flag '--" + entry.key + "' expects the table [" +
                    (own.empty() ? other : own) + "], but got [" + entry.table +
                    "]")
      .hint("a key above all tables may be any flag");
}

Status RunFileReader::add(const Entry &entry) {
  if (isOnlyOnCommandLine(entry.key))
    return usageError("flag '--" + entry.key +
                      "' expects the command line, but got a file")
        .hint("leave it out");
  const FlagSpec *spec = findSpec(entry.key);
  if (!spec)
    return unknownKey(entry);
  if (Status status = checkPlace(entry, *spec); !status)
    return status;
  for (const RunFileValue &earlier : values)
    if (earlier.name == entry.key)
      return usageError("flag '--" + entry.key +
                        "' is given twice: also in line " +
                        std::to_string(earlier.line));
  Expected<std::string> value = textOf(*spec, *entry.node);
  if (!value)
    return value.takeError();
  if (value->find('\0') != std::string::npos)
    return usageError("flag '--" + entry.key +
                      "' expects a text without NUL, but got " +
                      inQuotes(*value));
  const std::string text = canonicalFlagValue(*spec, *value);
  if (Status status = checkFlagValue(*spec, text); !status)
    return status;
  values.push_back({entry.key, text, placeOf(entry.at), int(entry.at.line),
                    int(entry.at.column)});
  return Status::success();
}

/// Keys of the file and of its tables, in the order of their lines.
Status RunFileReader::collect(const toml::table &parsed) {
  for (const auto &[name, node] : parsed) {
    const std::string key(name.str());
    const toml::table *inner = node.as_table();
    if (!inner) {
      entries.push_back({"", key, &node, name.source().begin});
      continue;
    }
    if (Status status = checkTableName(key, node.source().begin); !status)
      return status;
    for (const auto &[innerName, value] : *inner)
      entries.push_back({key, std::string(innerName.str()), &value,
                         innerName.source().begin});
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.at < b.at; });
  return Status::success();
}

Expected<std::vector<RunFileValue>> RunFileReader::read() {
  if (int line = findDeepTomlKey(text))
    return inputError("expects keys of at most " +
                      std::to_string(kMostTomlKeyParts) + " parts")
        .at(path, line);
  const toml::parse_result parsed = toml::parse(std::string_view(text));
  if (!parsed) {
    Error error = inputError("expects TOML, but got: " +
                             std::string(parsed.error().description()));
    const std::string_view problem = parsed.error().description();
    if (problem.find("cannot redefine existing") != problem.npos &&
        problem.find("as table") != problem.npos)
      error.hint("a flag with the name of a table stands in the table: [data] "
                 "and below it data = \"FILE\"");
    if (endsWith(path, ".json"))
      error.hint("--config names a file of flags; the model is the first "
                 "argument: weft train MODEL");
    return located(std::move(error), parsed.error().source().begin);
  }
  if (Status status = collect(parsed.table()); !status)
    return status.takeError();
  for (const Entry &entry : entries)
    if (Status status = add(entry); !status)
      return located(status.takeError(), entry.at);
  return values;
}

Expected<std::vector<RunFileValue>>
weft::readRunFile(const std::string &path, const FlagTable &table,
                  const FlagParseOptions &options) {
  Expected<std::string> text = readFile(path, kMostFileBytes);
  if (!text)
    return text.takeError();
  // A file of comments may be a template that --print-config wrote.
  if (text->find_first_not_of(" \t\r\n") == text->npos)
    return inputError("expects a file with flags, but got an empty one")
        .at(path, 1);
  return RunFileReader(path, *text, table, options).read();
}
