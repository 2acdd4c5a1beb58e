//===- ViewTable.h - Rows of JSON as lines of text --------------*- C++ -*-===//
//
// The JSON of a view is a list of objects. Its text is a line for each of them
// by a layout: the text of a line with `{TITLE=FIELD:FORMAT}` for each cell.
// FORMAT is a width as in printf, the decimals of a number (`12.1`), then
//   %  for 100 times the number, with the sign,
//   m  for microseconds as milliseconds, M: with the unit,
//   B  for bytes with a unit, and "-" where the field is absent or null,
//   ?  for "-" there.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_VIEWTABLE_H
#define WEFT_TOOLS_WEFT_VIEWTABLE_H

#include "weft/Formats/Json.h"

namespace weft {

/// The titles of a layout, as a line.
std::string tableTitles(std::string_view layout);
/// Text is escaped, since names may come from a file of somebody else.
std::string tableLine(std::string_view layout, const Json &row);
/// Prints the titles, and a line for each row.
void printTable(std::string_view layout, const Json &rows);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_VIEWTABLE_H
