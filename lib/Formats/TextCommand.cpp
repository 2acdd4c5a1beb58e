//===- TextCommand.cpp - Commands that make text of other forms -----------===//

#include "weft/Formats/FileKind.h"

#include "JsonScanner.h"

#include <algorithm>
#include <cctype>

using namespace weft;

std::string weft::shellWord(const std::string &path) {
  const bool isPlain = std::all_of(path.begin(), path.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_./-+=@,:").find(c) != std::string_view::npos;
  });
  if (isPlain && !path.empty())
    return path;
  std::string word = "'";
  for (char c : path)
    word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// Stands in a command for the name of a field that the user has to choose.
static constexpr char kAnyField[] = "FIELD";

/// A name that stands between single quotes in Python and double ones in a
/// shell as it is.
static bool isPlainName(const std::string &name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
           c == '-' || c == ' ' || c == '.';
  });
}

/// The field that holds the text, by its usual names or because there is no
/// other; else kAnyField.
static std::string chooseField(const std::vector<std::string> &fields,
                               bool hasOthers = false) {
  for (const char *usual :
       {"text", "content", "body", "document", "article", "story"})
    if (std::find(fields.begin(), fields.end(), usual) != fields.end())
      return usual;
  return fields.size() == 1 && !hasOthers && isPlainName(fields[0]) ? fields[0]
                                                                    : kAnyField;
}

/// Lists the fields of which one takes the place of kAnyField.
static std::string fieldsNote(const std::vector<std::string> &fields) {
  constexpr size_t most = 8;
  std::string names;
  for (size_t i = 0; i < std::min(most, fields.size()); ++i)
    names += (i > 0 ? ", " : "") + fields[i];
  return std::string(", with the name of a field for ") + kAnyField +
         (names.empty() ? "" : " (" + names + ")");
}

/// The titles of a table's columns.
static std::vector<std::string> columns(std::string_view line, char separator) {
  std::vector<std::string> names(1);
  bool isQuoted = false;
  for (char c : line)
    if (c == '"')
      isQuoted = !isQuoted;
    else if (c == separator && !isQuoted)
      names.emplace_back();
    else
      names.back() += c;
  return names;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

namespace {
class CommandWriter {
public:
  CommandWriter(std::string_view head, const std::string &path)
      : head(withoutMark(head)), isMarked(this->head.size() < head.size()),
        files(shellWord(path) + " > " + shellWord(path + ".txt")) {}

  std::string table(char separator) const;
  std::string json() const;
  std::string jsonLines() const;

private:
  /// A Python command that reads the file with `module`; `fields` are listed if
  /// `field` is kAnyField.
  std::string python(const char *module, const std::string &body,
                     const std::string &field,
                     const std::vector<std::string> &fields) const;
  std::string_view head;
  bool isMarked; // by a byte-order mark
  std::string files;
};
} // namespace

std::string
CommandWriter::python(const char *module, const std::string &body,
                      const std::string &field,
                      const std::vector<std::string> &fields) const {
  return std::string("python3 -c \"import ") + module + ",sys; " +
         (isMarked ? "sys.stdin.reconfigure(encoding='utf-8-sig'); " : "") +
         body + "\" < " + files +
         (field == kAnyField ? fieldsNote(fields) : "");
}

std::string CommandWriter::table(char separator) const {
  const std::string_view line = head.substr(0, head.find_first_of("\r\n"));
  std::vector<std::string> names = columns(line, separator);
  // As spreadsheets write it where the comma is decimal.
  if (separator == ',' && names.size() == 1 &&
      columns(line, ';').size() > names.size()) {
    separator = ';';
    names = columns(line, separator);
  }
  const std::string option = separator == ','
                                 ? ""
                                 : std::string(", delimiter='") +
                                       (separator == '\t' ? "\\t" : ";") + "'";
  const std::string field = chooseField(names);
  return python("csv",
                "csv.field_size_limit(10**9); [print(row['" + field +
                    "']) for row in csv.DictReader(sys.stdin" + option + ")]",
                field, names);
}

/// The value of one JSON document: an object, or an array of objects or texts.
std::string CommandWriter::json() const {
  JsonScanner scanner(head);
  if (!scanner.isAtEnd())
    (void)scanner.scanValue();
  const std::string field =
      chooseField(scanner.fields, scanner.hasOtherMembers);
  const size_t first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos || head[first] != '[')
    return python("json", "print(json.load(sys.stdin)['" + field + "'])", field,
                  scanner.fields);
  const size_t next = head.find_first_not_of(" \t\r\n", first + 1);
  const bool holdsTexts = next != head.npos && head[next] == '"';
  return python("json",
                "[print(row" +
                    (holdsTexts ? std::string() : "['" + field + "']") +
                    ") for row in json.load(sys.stdin)]",
                holdsTexts ? "" : field, scanner.fields);
}

/// No command where values take several lines each.
std::string CommandWriter::jsonLines() const {
  const size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == head.npos)
    return "";
  const size_t end = head.find('\n', begin);
  JsonScanner scanner(head.substr(begin, end - begin));
  if (scanner.scanValue() != JsonScanner::Result::Whole && end != head.npos)
    return "";
  const std::string field =
      chooseField(scanner.fields, scanner.hasOtherMembers);
  return python("json",
                "[print(json.loads(line)['" + field +
                    "']) for line in sys.stdin if line.strip()]",
                field, scanner.fields);
}

/// The name for iconv: without a byte-order mark the order must be told.
static std::string wideName(TextForm form, std::string_view head) {
  const bool isMarked = head.substr(0, 2) == "\xff\xfe" ||
                        head.substr(0, 2) == "\xfe\xff" ||
                        head.substr(2, 2) == "\xfe\xff";
  const char *name = form == TextForm::Utf16 ? "UTF-16" : "UTF-32";
  return isMarked ? name : name + std::string(head[0] ? "LE" : "BE");
}

std::string weft::textCommand(TextForm form, std::string_view head,
                              const std::string &path) {
  const CommandWriter writer(head, path);
  switch (form) {
  case TextForm::Plain:
    return "";
  case TextForm::Json:
    return writer.json();
  case TextForm::JsonLines:
    return writer.jsonLines();
  case TextForm::Csv:
    return writer.table(',');
  case TextForm::Tsv:
    return writer.table('\t');
  case TextForm::Utf16:
  case TextForm::Utf32:
    return "iconv -f " + wideName(form, head) + " -t UTF-8 " + shellWord(path) +
           " > " + shellWord(path + ".txt");
  }
  return "";
}
