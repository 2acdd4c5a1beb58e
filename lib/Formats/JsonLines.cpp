//===- JsonLines.cpp - Fields of a line of JSON ---------------------------===//

#include "weft/Formats/JsonLines.h"

#include "weft/Formats/FileKind.h"

#include <algorithm>

using namespace weft;

const char *const weft::kQuestionsHint =
    "weft evaluate MODEL --val-data FILE and weft predict MODEL --data FILE "
    "read questions";

size_t weft::columnOfField(std::string_view line, std::string_view name) {
  int depth = 0;
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (c != '"')
      continue;
    size_t end = at + 1;
    while (end < line.size() && line[end] != '"')
      end += line[end] == '\\' ? 2 : 1;
    if (end >= line.size())
      break;
    const size_t next = line.find_first_not_of(" \t", end + 1);
    const bool isName = next != line.npos && line[next] == ':';
    if (depth == 1 && isName && line.substr(at + 1, end - at - 1) == name)
      return at + 1;
    at = end;
  }
  return 1;
}

bool weft::isQuestionLine(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t");
  if (begin == line.npos || line[begin] != '{')
    return false;
  return columnOfField(line, "choices") > 1 ||
         (line.find("\"choices\"") != line.npos &&
          columnOfField(line, "text") == 1);
}

bool weft::beginsWithQuestion(std::string_view text) {
  text = withoutMark(text);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return isQuestionLine(text.substr(0, text.find('\n')));
}
