//===- Text.h - Text from outside, made fit for messages --------*- C++ -*-===//
//
// Untrusted text in messages: cut, and without bytes that could spoil a
// terminal. Also the edit distance behind "did you mean".
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_TEXT_H
#define WEFT_FORMATS_TEXT_H

#include <cstddef>
#include <string>
#include <string_view>

namespace weft {

/// Length of the well-formed UTF-8 sequence at the front; 0 if there is none.
size_t utf8Length(std::string_view text);
/// `text` cut after about `most` bytes, with control characters and malformed
/// UTF-8 replaced by '?'.
std::string printable(std::string_view text, size_t most);
/// `text` whole, with control characters and malformed UTF-8 as \x1B; those in
/// `keep`, such as line ends, stay.
std::string escaped(std::string_view text, std::string_view keep = "");
/// printable() of 80 bytes between single quotes.
std::string inQuotes(std::string_view text);

/// Insertions, deletions, replacements and swaps of neighbours between a and b.
size_t editDistance(std::string_view a, std::string_view b);

} // namespace weft

#endif // WEFT_FORMATS_TEXT_H
