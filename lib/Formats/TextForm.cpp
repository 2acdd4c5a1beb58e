//===- TextForm.cpp - Text that is not read as it is ----------------------===//

#include "weft/Formats/TextForm.h"

#include "weft/Formats/Text.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace weft {

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace {
/// Reads JSON values whose end may be cut off. parseJson() does not tell text
/// that is cut from text that is wrong.
class JsonScanner {
public:
  enum class Result { Whole, Cut, Wrong };

  explicit JsonScanner(std::string_view text) : text(text) {}

  /// One value; an object or an array at the front.
  Result scanValue();
  /// Skips space; whether nothing is left.
  bool isAtEnd();

  /// Names of the outermost objects' members that are strings.
  std::vector<std::string> fields;

private:
  bool has(char c) const { return at < text.size() && text[at] == c; }
  Result scanString(std::string *content = nullptr);
  Result scanWord();
  Result scanKey();
  Result scanInner();
  Result close();

  std::string_view text;
  size_t at = 0;
  std::string open; // brackets around `at`
};
} // namespace

bool JsonScanner::isAtEnd() {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t' ||
                              text[at] == '\n' || text[at] == '\r'))
    ++at;
  return at == text.size();
}

JsonScanner::Result JsonScanner::scanString(std::string *content) {
  if (!has('"'))
    return Result::Wrong;
  const size_t begin = ++at;
  for (; at < text.size(); ++at) {
    if (text[at] == '"') {
      if (content)
        *content = text.substr(begin, at - begin);
      ++at;
      return Result::Whole;
    }
    if (static_cast<unsigned char>(text[at]) < 0x20)
      return Result::Wrong;
    if (text[at] == '\\')
      ++at;
  }
  at = text.size();
  return Result::Cut;
}

/// A number, true, false or null.
JsonScanner::Result JsonScanner::scanWord() {
  const size_t begin = at;
  while (at < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[at])) ||
          text[at] == '-' || text[at] == '+' || text[at] == '.'))
    ++at;
  const std::string_view word = text.substr(begin, at - begin);
  if (word.empty())
    return Result::Wrong;
  for (std::string_view known : {"true", "false", "null", "NaN"})
    if (word == known ||
        (at == text.size() && known.substr(0, word.size()) == word))
      return at == text.size() ? Result::Cut : Result::Whole;
  if (word.find_first_not_of("0123456789+-.eE") != word.npos ||
      (word[0] != '-' && !std::isdigit(static_cast<unsigned char>(word[0]))))
    return Result::Wrong;
  return at == text.size() ? Result::Cut : Result::Whole;
}

/// A name and its colon.
JsonScanner::Result JsonScanner::scanKey() {
  if (isAtEnd())
    return Result::Cut;
  std::string name;
  if (Result result = scanString(&name); result != Result::Whole)
    return result;
  if (isAtEnd())
    return Result::Cut;
  if (!has(':'))
    return Result::Wrong;
  ++at;
  if (isAtEnd())
    return Result::Cut;
  const bool isOutermost = open == "{" || open == "[{";
  if (isOutermost && has('"') &&
      std::find(fields.begin(), fields.end(), name) == fields.end())
    fields.push_back(name);
  return Result::Whole;
}

/// Reads on behind a value: a comma and a key, or the ends of open brackets.
JsonScanner::Result JsonScanner::close() {
  while (!open.empty()) {
    if (isAtEnd())
      return Result::Cut;
    if (has(',')) {
      ++at;
      return open.back() == '{' ? scanKey() : Result::Whole;
    }
    if (!has(open.back() == '{' ? '}' : ']'))
      return Result::Wrong;
    ++at;
    open.pop_back();
  }
  return Result::Whole;
}

/// A value up to its end, or the front of one that has others in it.
JsonScanner::Result JsonScanner::scanInner() {
  if (isAtEnd())
    return Result::Cut;
  if (!has('{') && !has('[')) {
    Result result = has('"') ? scanString() : scanWord();
    return result == Result::Whole ? close() : result;
  }
  open += text[at++];
  if (isAtEnd())
    return Result::Cut;
  if (has(open.back() == '{' ? '}' : ']'))
    return close();
  return open.back() == '{' ? scanKey() : Result::Whole;
}

JsonScanner::Result JsonScanner::scanValue() {
  if (!has('{') && !has('['))
    return Result::Wrong;
  Result result = scanInner();
  while (result == Result::Whole && !open.empty())
    result = scanInner();
  return result;
}

static TextForm guessJson(std::string_view head, bool isWhole) {
  JsonScanner scanner(head);
  int64_t values = 0;
  while (!scanner.isAtEnd()) {
    const JsonScanner::Result result = scanner.scanValue();
    if (result == JsonScanner::Result::Wrong ||
        (result == JsonScanner::Result::Cut && isWhole))
      return TextForm::Plain;
    ++values;
    if (result == JsonScanner::Result::Cut)
      break;
  }
  return values == 0   ? TextForm::Plain
         : values == 1 ? TextForm::Json
                       : TextForm::JsonLines;
}

//===----------------------------------------------------------------------===//
// Wide letters
//===----------------------------------------------------------------------===//

/// Whether a byte of ASCII text stands in each unit of `width` bytes at
/// `place`, and nearly all others are null.
static bool hasWideLetters(std::string_view head, size_t width, size_t place) {
  const size_t units = head.size() / width;
  size_t nulls = 0;
  for (size_t i = 0; i < units * width; ++i) {
    const auto c = static_cast<unsigned char>(head[i]);
    if (i % width != place)
      nulls += c == 0;
    else if (c == 0 || (c < 0x20 && c != '\n' && c != '\r' && c != '\t'))
      return false;
  }
  return units >= 16 && nulls * 8 >= units * (width - 1) * 7;
}

static TextForm guessWide(std::string_view head) {
  auto begins = [&](std::string_view mark) {
    return head.substr(0, mark.size()) == mark;
  };
  if (begins(std::string_view("\xff\xfe\0\0", 4)) ||
      begins(std::string_view("\0\0\xfe\xff", 4)) ||
      hasWideLetters(head, 4, 0) || hasWideLetters(head, 4, 3))
    return TextForm::Utf32;
  if (begins("\xff\xfe") || begins("\xfe\xff") || hasWideLetters(head, 2, 0) ||
      hasWideLetters(head, 2, 1))
    return TextForm::Utf16;
  return TextForm::Plain;
}

/// The name for iconv: without a byte-order mark the order must be told.
static std::string wideName(TextForm form, std::string_view head) {
  const bool isMarked = head.substr(0, 2) == "\xff\xfe" ||
                        head.substr(0, 2) == "\xfe\xff" ||
                        head.substr(2, 2) == "\xfe\xff";
  const char *name = form == TextForm::Utf16 ? "UTF-16" : "UTF-32";
  return isMarked ? name : name + std::string(head[0] ? "LE" : "BE");
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

static TextForm formOfName(std::string_view name) {
  std::string lower(name.substr(std::min(name.size(), name.rfind('.'))));
  for (char &c : lower)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower == ".json"                          ? TextForm::Json
         : lower == ".jsonl" || lower == ".ndjson" ? TextForm::JsonLines
         : lower == ".csv"                         ? TextForm::Csv
         : lower == ".tsv"                         ? TextForm::Tsv
                                                   : TextForm::Plain;
}

TextForm guessTextForm(std::string_view head, int64_t wholeSize,
                       std::string_view name) {
  head = head.substr(0, kTextFormBytes);
  if (TextForm form = guessWide(head); form != TextForm::Plain)
    return form;
  if (TextForm form = formOfName(name); form != TextForm::Plain)
    return form;
  return guessJson(head, wholeSize == int64_t(head.size()));
}

const char *textFormName(TextForm form) {
  switch (form) {
  case TextForm::Plain:
    return "text";
  case TextForm::Json:
    return "a JSON file";
  case TextForm::JsonLines:
    return "JSON lines";
  case TextForm::Csv:
  case TextForm::Tsv:
    return "a table (CSV)";
  case TextForm::Utf16:
    return "UTF-16 text";
  case TextForm::Utf32:
    return "UTF-32 text";
  }
  return "";
}

std::string shellWord(const std::string &path) {
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

/// A name that stands between single quotes in Python and double ones in a
/// shell as it is.
static bool isPlainName(const std::string &name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
           c == '-' || c == ' ' || c == '.';
  });
}

static std::string chooseField(const std::vector<std::string> &fields) {
  for (const char *usual : {"text", "content"})
    if (std::find(fields.begin(), fields.end(), usual) != fields.end())
      return usual;
  auto first = std::find_if(fields.begin(), fields.end(), isPlainName);
  return first == fields.end() ? "text" : *first;
}

/// The titles of a table's columns.
static std::vector<std::string> columns(std::string_view head, char separator) {
  std::vector<std::string> names(1);
  for (char c : head.substr(0, head.find_first_of("\r\n")))
    if (c == separator)
      names.emplace_back();
    else if (c != '"')
      names.back() += c;
  return names;
}

std::string textCommand(TextForm form, std::string_view head,
                        const std::string &path) {
  const std::string files = shellWord(path) + " > " + shellWord(path + ".txt");
  JsonScanner scanner(head);
  if (!scanner.isAtEnd())
    (void)scanner.scanValue();
  const std::string field = "['" + chooseField(scanner.fields) + "']";
  const size_t first = head.find_first_not_of(" \t\r\n");
  const bool isArray = first != head.npos && head[first] == '[';
  auto table = [&](char separator, const char *option) {
    return "python3 -c \"import csv,sys; csv.field_size_limit(10**9); "
           "[print(row['" +
           chooseField(columns(head, separator)) +
           "']) for row in csv.DictReader(sys.stdin" + option + ")]\" < " +
           files;
  };
  switch (form) {
  case TextForm::Plain:
    return "";
  case TextForm::Json:
    return (isArray
                ? "python3 -c \"import json,sys; [print(row" + field +
                      ") for row in json.load(sys.stdin)]\" < "
                : "python3 -c \"import json,sys; print(json.load(sys.stdin)" +
                      field + ")\" < ") +
           files;
  case TextForm::JsonLines:
    return "python3 -c \"import json,sys; [print(json.loads(line)" + field +
           ") for line in sys.stdin if line.strip()]\" < " + files;
  case TextForm::Csv:
    return table(',', "");
  case TextForm::Tsv:
    return table('\t', ", delimiter='\\t'");
  case TextForm::Utf16:
  case TextForm::Utf32:
    return "iconv -f " + wideName(form, head) + " -t UTF-8 " + files;
  }
  return "";
}

} // namespace weft
