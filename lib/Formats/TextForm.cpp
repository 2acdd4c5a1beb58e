//===- TextForm.cpp - Text that is not read as it is ----------------------===//

#include "weft/Formats/TextForm.h"

#include "JsonScanner.h"

#include <algorithm>
#include <cctype>

namespace weft {

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

std::string_view withoutMark(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.substr(0, mark.size()) == mark ? text.substr(mark.size()) : text;
}

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
  const bool isWhole = wholeSize == int64_t(head.size());
  if (TextForm form = guessWide(head); form != TextForm::Plain)
    return form;
  const TextForm named = formOfName(name);
  if (named == TextForm::Csv || named == TextForm::Tsv)
    return named;
  // Files that end in .json often hold JSON lines, and the other way round.
  const TextForm found = guessJson(withoutMark(head), isWhole);
  return found == TextForm::Plain ? named : found;
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

} // namespace weft
