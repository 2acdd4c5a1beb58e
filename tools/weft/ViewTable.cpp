//===- ViewTable.cpp - Rows of JSON as lines of text ----------------------===//

#include "ViewTable.h"

#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace weft;

static std::string cellText(const Json *value, const std::string &format) {
  const size_t point = format.find('.');
  const char kind = format.empty() ? ' ' : format.back();
  const bool isAbsent = !value || value->isNull();
  if (isAbsent && (kind == '?' || kind == 'B'))
    return "-";
  if (kind == 'B')
    return humanBytes(value->isInt() ? value->asInt() : 0);
  if (point == format.npos)
    return isAbsent            ? ""
           : value->isString() ? escaped(value->asString(), "\n")
                               : value->compact();
  double number = !isAbsent && value->isNumber() ? value->asDouble() : 0;
  number = kind == '%'                  ? 100 * number
           : kind == 'm' || kind == 'M' ? number / 1e3
                                        : number;
  char text[512];
  std::snprintf(text, sizeof text, "%.*f%s", format[point + 1] - '0', number,
                kind == '%'   ? " %"
                : kind == 'M' ? " ms"
                              : "");
  return text;
}

/// The line of a row; of titles where there is none.
static std::string fill(std::string_view layout, const Json *row) {
  std::string line;
  for (size_t open; (open = layout.find('{')) != layout.npos;) {
    const size_t close = layout.find('}', open),
                 equals = layout.find('=', open);
    const size_t colon = std::min(layout.find(':', equals), close);
    auto between = [&](size_t from, size_t to) {
      return std::string(layout.substr(from, to - from));
    };
    const std::string format =
        colon < close ? between(colon + 1, close) : std::string();
    const std::string cell =
        row ? cellText(row->find(between(equals + 1, colon)), format)
            : between(open + 1, equals);
    const int width = std::atoi(format.c_str());
    const size_t least = size_t(std::abs(width));
    const std::string padding(least - std::min(least, cell.size()), ' ');
    line += between(0, open) + (width < 0 ? cell + padding : padding + cell);
    layout.remove_prefix(close + 1);
  }
  return line + std::string(layout) + "\n";
}

std::string weft::tableTitles(std::string_view layout) {
  return fill(layout, nullptr);
}

std::string weft::tableLine(std::string_view layout, const Json &row) {
  return fill(layout, &row);
}

void weft::printTable(std::string_view layout, const Json &rows) {
  printText(tableTitles(layout));
  for (const Json &row : rows.asArray())
    printText(tableLine(layout, row));
}
