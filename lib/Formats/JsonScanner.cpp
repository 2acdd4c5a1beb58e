//===- JsonScanner.cpp - JSON whose end may be cut off --------------------===//

#include "JsonScanner.h"

#include <algorithm>
#include <cctype>

using namespace weft;

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
  hasOtherMembers |= isOutermost && !has('"');
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
