//===- TomlKeys.cpp - The depth of keys in TOML ---------------------------===//

#include "weft/Base/RunFile.h"

#include <algorithm>

using namespace weft;

/// Without strings and comments: nothing in them is part of a key.
static std::string stripTomlLine(std::string_view line) {
  std::string rest;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '"' && c == '\\')
      ++i;
    else if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '#')
      break;
    else
      rest += c;
  }
  return rest;
}

static bool hasDeepKey(std::string_view line) {
  int dots = 0;
  for (char c : stripTomlLine(line)) {
    if (std::string_view("=,{}[]").find(c) != std::string_view::npos)
      dots = 0;
    else if (c == '.' && ++dots >= kMostTomlKeyParts)
      return true;
  }
  return false;
}

int weft::findDeepTomlKey(std::string_view text) {
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (hasDeepKey(text.substr(0, end)))
      return number;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return 0;
}
