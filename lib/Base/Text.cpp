//===- Text.cpp - Text for messages ---------------------------------------===//

#include "weft/Base/Text.h"

#include "weft/Base/CountText.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace weft;

size_t weft::utf8Length(std::string_view text) {
  auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  auto follows = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  unsigned first = byte(0), second = byte(1);
  if (first < 0x80)
    return 1;
  if (first >= 0xc2 && first <= 0xdf)
    return follows(1) ? 2 : 0;
  if ((first & 0xf0) == 0xe0) {
    bool bad =
        (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f);
    return follows(1) && follows(2) && !bad ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    bool bad =
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    return follows(1) && follows(2) && follows(3) && !bad ? 4 : 0;
  }
  return 0;
}

/// Bytes of the character at the front; 0 if a terminal should not get it.
static size_t harmlessLength(std::string_view text) {
  size_t length = utf8Length(text);
  auto first = static_cast<unsigned char>(text[0]);
  // The C1 control characters are the two bytes c2 80 to c2 9f.
  bool control = first < 0x20 || first == 0x7f ||
                 (first == 0xc2 && length == 2 &&
                  static_cast<unsigned char>(text[1]) < 0xa0);
  return control ? 0 : length;
}

std::string weft::printable(std::string_view text, size_t most) {
  std::string result;
  while (!text.empty()) {
    if (result.size() >= most)
      return result + "...";
    // One mark per character, not per byte.
    size_t length = harmlessLength(text), skipped = utf8Length(text);
    if (length == 0)
      result += '?';
    else
      result += text.substr(0, length);
    text.remove_prefix(skipped ? skipped : 1);
  }
  return result;
}

std::string weft::escaped(std::string_view text, std::string_view keep) {
  static const char digits[] = "0123456789ABCDEF";
  std::string result;
  while (!text.empty()) {
    size_t length = harmlessLength(text);
    auto first = static_cast<unsigned char>(text[0]);
    if (length == 0 && keep.find(text[0]) != keep.npos)
      length = 1;
    if (length == 0)
      result += {'\\', 'x', digits[first >> 4], digits[first & 15]};
    else
      result += text.substr(0, length);
    text.remove_prefix(length ? length : 1);
  }
  return result;
}

size_t weft::wholeCharacters(std::string_view text) {
  for (size_t behind = 1; behind <= std::min<size_t>(3, text.size());
       ++behind) {
    const auto byte = static_cast<unsigned char>(text[text.size() - behind]);
    if ((byte & 0xc0) == 0x80)
      continue; // inside of a character
    const size_t length = byte >= 0xf0   ? 4
                          : byte >= 0xe0 ? 3
                          : byte >= 0xc0 ? 2
                                         : 1;
    return length > behind ? text.size() - behind : text.size();
  }
  return text.size();
}

std::string weft::inQuotes(std::string_view text) {
  return "'" + printable(text, 80) + "'";
}

std::string weft::wrapText(std::string_view text, size_t indent,
                           size_t columns) {
  std::string result;
  size_t used = indent;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty())
      continue;
    if (used > indent && used + 1 + word.size() > columns) {
      result += "\n" + std::string(indent, ' ');
      used = indent;
    }
    if (used > indent) {
      result += ' ';
      ++used;
    }
    result += word;
    used += word.size();
  }
  return result;
}

bool weft::endsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() &&
         text.substr(text.size() - suffix.size()) == suffix;
}

std::string weft::numberText(double value, int digits) {
  if (std::isnan(value))
    return "nan";
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", std::min(digits, 17), value);
  return text;
}

std::string weft::threeDigits(double value, int decimals) {
  if (std::isnan(value))
    return "nan";
  char text[40];
  const double enough = std::pow(10.0, 2 - decimals);
  const bool isSmall = value != 0 && std::fabs(value) < enough;
  std::snprintf(text, sizeof text, isSmall ? "%#.*g" : "%.*f",
                isSmall ? 3 : decimals, value);
  return text;
}

std::string weft::humanBytes(int64_t bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  for (; std::fabs(value) >= 1024.0 && unit < 4; ++unit)
    value /= 1024.0;
  char text[40];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.2f %s", value,
                units[unit]);
  return text;
}

std::string weft::groupedText(int64_t number) {
  std::string text = std::to_string(number);
  for (int64_t at = int64_t(text.size()) - 3; at > 0; at -= 3)
    text.insert(size_t(at), ",");
  return text;
}

std::string weft::countText(int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) +
         (count == 1 ? "" : "s");
}

std::string weft::exactBytes(int64_t bytes) {
  std::string exact = countText(bytes, "byte");
  return std::abs(bytes) < 1024 ? exact
                                : exact + " (" + humanBytes(bytes) + ")";
}

size_t weft::editDistance(std::string_view a, std::string_view b) {
  // Three rows of the usual table: swaps look two rows up.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1),
      row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t change = last[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = std::min({change, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string weft::similarName(std::string_view name,
                              const std::vector<std::string> &names) {
  std::string_view cut = name.substr(0, 64);
  size_t least = std::max<size_t>(1, cut.size() / 3) + 1;
  std::string best;
  for (const std::string &known : names)
    if (size_t distance = editDistance(cut, known); distance < least) {
      least = distance;
      best = known;
    }
  return best;
}
