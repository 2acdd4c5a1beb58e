//===- RegexSyntax.cpp - From Oniguruma's syntax to PCRE2's ---------------===//
//
// Differences of the two, for the constructs that tokenizer files use:
//
//   \s   PCRE2 counts U+180E too; \w leaves out marks; \h is another class
//   \p   a script in PCRE2 has the characters that texts in it use
//   ^ $  match at every line in Oniguruma
//   {,n} is {0,n}; a + behind {n,m} repeats, and is not possessive
//
//===----------------------------------------------------------------------===//

#include "Regex.h"

#include "Unicode.h"

#include "weft/Base/Results.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace weft {

static const char *const kSpace = "\\t-\\r\\x{85}\\p{Z}";
static const char *const kWord =
    "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{24B6}-\\x{24E9}"
    "\\xB2\\xB3\\xB9\\xBC-\\xBE"
    "\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}";
static const char *const kHex = "0-9A-Fa-f";

static bool isOneOf(char c, std::string_view set) {
  return set.find(c) != set.npos;
}

namespace {

class Translator {
public:
  explicit Translator(std::string_view in) : in(in) {}

  Expected<std::string> run();

private:
  bool has(std::string_view text) const {
    return in.substr(at, text.size()) == text;
  }
  Error unsupported(std::string_view construct) const {
    return inputError("does not support ", inQuotes(construct),
                      " in a regular expression yet, which has ", inQuotes(in));
  }
  Status element();
  Status openGroup();
  Expected<bool> setEscape(char c, bool inClass);
  Status escape(bool inClass);
  Status hexEscape();
  Status property();
  Status characterClass();
  void quantifier();
  void literal() {
    const size_t length = sequenceLength(in[at]);
    out += in.substr(at, length);
    at += length;
  }

  std::string_view in;
  size_t at = 0;
  std::string out;
  /// Where the last element begins in `out`; the open groups.
  size_t lastElement = 0;
  std::vector<size_t> groups;
};

} // namespace

Status Translator::hexEscape() {
  const char kind = in[at++];
  size_t length = 0;
  size_t begin = at;
  bool braces = kind == 'x' && has("{");
  begin += braces;
  while (begin + length < in.size() &&
         std::isxdigit(static_cast<unsigned char>(in[begin + length])))
    ++length;
  const size_t digits = kind == 'u' ? 4 : 2;
  if (!braces)
    length = std::min(length, digits);
  const bool closed = !braces || in.substr(begin + length, 1) == "}";
  if (length == 0 || length > 8 || !closed || (!braces && length != digits))
    return unsupported("\\" + std::string(in.substr(at - 1, 4)));
  // A byte of a longer sequence in Oniguruma.
  if (kind == 'x' && !braces && in[begin] >= '8')
    return unsupported("\\" + std::string(in.substr(at - 1, 3)));
  out += concat("\\x{", in.substr(begin, length), "}");
  at = begin + length + braces;
  return Status::success();
}

/// A category, or a script: PCRE2 takes a script without `sc:` for the
/// characters of its texts, Oniguruma for its own.
Status Translator::property() {
  const size_t end = in.find('}', at);
  if (in.substr(at + 1, 1) != "{" || end == in.npos)
    return unsupported("\\" + std::string(in.substr(at, 2)));
  std::string_view name = in.substr(at + 2, end - at - 2);
  bool isNegated = in[at] == 'P';
  if (!name.empty() && name[0] == '^') {
    isNegated = !isNegated;
    name.remove_prefix(1);
  }
  const bool isName = std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
  if (name.empty() || !isName)
    return unsupported("\\" + std::string(in.substr(at, end + 1 - at)));
  out += concat(isNegated ? "\\P{" : "\\p{", name.size() > 2 ? "sc:" : "", name,
                "}");
  at = end + 1;
  return Status::success();
}

/// An escape for a set of characters; false for another one.
Expected<bool> Translator::setEscape(char c, bool inClass) {
  const std::string_view set = isOneOf(c, "sS")   ? kSpace
                               : isOneOf(c, "wW") ? kWord
                               : c == 'h'         ? kHex
                               : c == 'v'         ? "\\x{0B}"
                               : c == 'd'         ? "\\p{Nd}"
                               : c == 'D'         ? "\\P{Nd}"
                                                  : "";
  if (set.empty())
    return false;
  if (inClass && c == 'W')
    return unsupported("\\W in a class");
  if (inClass && c == 'S')
    out += "\\S\\x{180E}";
  else if (inClass)
    out += set;
  else
    out += concat(isOneOf(c, "SW") ? "[^" : "[", set, "]");
  ++at;
  return true;
}

Status Translator::escape(bool inClass) {
  if (at + 1 >= in.size())
    return unsupported("\\");
  const char c = in[++at];
  if (c == 'p' || c == 'P')
    return property();
  if (c == 'x' || c == 'u')
    return hexEscape();
  Expected<bool> isSet = setEscape(c, inClass);
  if (!isSet)
    return isSet.takeError();
  if (*isSet)
    return Status::success();
  const bool isKept = isOneOf(c, "ntrfae") ||
                      (!inClass && isOneOf(c, "AzRX")) ||
                      std::ispunct(static_cast<unsigned char>(c)) || c == ' ';
  if (!isKept && std::isalnum(static_cast<unsigned char>(c)))
    return unsupported(std::string("\\") + c);
  if (isKept)
    out += '\\';
  literal(); // an escape of another character is the character
  return Status::success();
}

Status Translator::characterClass() {
  out += in[at++];
  if (has("^"))
    out += in[at++];
  if (has("]")) {
    out += "\\]";
    ++at;
  }
  while (at < in.size() && in[at] != ']') {
    if (in[at] == '[')
      return unsupported("[ in a class");
    if (has("&&"))
      return unsupported("&& in a class");
    if (in[at] != '\\') {
      literal();
    } else if (Status status = escape(/*inClass=*/true); !status) {
      return status;
    }
  }
  if (at == in.size())
    return unsupported("a class without ]");
  out += in[at++];
  return Status::success();
}

Status Translator::openGroup() {
  groups.push_back(out.size());
  if (!has("(?")) {
    out += "(?:"; // nothing refers to groups by number
    ++at;
    return Status::success();
  }
  for (std::string_view form :
       {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?i)", "(?-i:"})
    if (has(form)) {
      out += form;
      at += form.size();
      if (form.back() == ')')
        groups.pop_back();
      return Status::success();
    }
  return unsupported(in.substr(at, 4));
}

/// Copies a quantifier behind an element.
void Translator::quantifier() {
  if (in[at] != '{') {
    out += in[at++];
    if (at < in.size() && (in[at] == '+' || in[at] == '?'))
      out += in[at++];
    return;
  }
  const size_t end = in.find('}', at);
  std::string bounds(in.substr(at + 1, end == in.npos ? 0 : end - at - 1));
  if (end == in.npos || bounds.empty() || bounds == "," ||
      bounds.find_first_not_of("0123456789,") != bounds.npos) {
    out += "\\{"; // a brace of its own
    ++at;
    return;
  }
  out += concat("{", bounds[0] == ',' ? "0" : "", bounds, "}");
  at = end + 1;
  if (has("+")) {
    out.insert(lastElement, "(?:");
    out += ")+";
    ++at;
  } else if (has("?")) {
    out += in[at++];
  }
}

Status Translator::element() {
  const char c = in[at];
  if (isOneOf(c, "*+?{")) {
    quantifier();
    return Status::success();
  }
  if (c == ')') {
    lastElement = groups.empty() ? 0 : groups.back();
    if (!groups.empty())
      groups.pop_back();
    out += in[at++];
    return Status::success();
  }
  lastElement = out.size();
  switch (c) {
  case '\\':
    return escape(/*inClass=*/false);
  case '[':
    return characterClass();
  case '(':
    return openGroup();
  default:
    literal();
    return Status::success();
  }
}

Expected<std::string> Translator::run() {
  if (in.size() > (1 << 14))
    return inputError("expects a regular expression of at most 16384 bytes, "
                      "but got ",
                      in.size());
  while (at < in.size())
    if (Status status = element(); !status)
      return status.takeError();
  return std::move(out);
}

Expected<std::string> translateExpression(std::string_view expression) {
  return Translator(expression).run();
}

std::string quotedExpression(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (std::ispunct(static_cast<unsigned char>(c)) || c == ' ')
      out += '\\';
    out += c;
  }
  return out;
}

} // namespace weft
