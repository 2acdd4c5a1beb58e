//===- Text.h - Texts of messages and tables --------------------*- C++ -*-===//
//
// Untrusted text in messages: cut, and without bytes that could spoil a
// terminal. Numbers and sizes as people read them. The edit distance behind
// "did you mean".
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_TEXT_H
#define WEFT_BASE_TEXT_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Length of the well-formed UTF-8 sequence at the front; 0 if there is none.
size_t utf8Length(std::string_view text);
/// `text` cut after about `most` bytes, with control characters and malformed
/// UTF-8 replaced by '?'.
std::string printable(std::string_view text, size_t most);
/// `text` whole, with control characters and malformed UTF-8 as \x1B; those in
/// `keep`, such as line ends, stay.
std::string escaped(std::string_view text, std::string_view keep = "");
/// The bytes of `text` without a UTF-8 character that its end cuts.
size_t wholeCharacters(std::string_view text);
/// printable() of 80 bytes between single quotes.
std::string inQuotes(std::string_view text);

/// The words of `text` in lines of at most `columns`, which begin with `indent`
/// blanks, but for the first one. A longer word has a line of its own.
std::string wrapText(std::string_view text, size_t indent, size_t columns);

bool endsWith(std::string_view text, std::string_view suffix);

/// "65536", "0.5", "1e-40": `digits` significant ones at the most. Nine tell
/// any two f32 apart. NaN has no sign, which tells nothing.
std::string numberText(double value, int digits = 9);
/// A number with at least three significant digits: with `decimals` behind the
/// point, or with more where the number is small: "3.1448", "0.00123".
std::string threeDigits(double value, int decimals);
/// "1.18 MiB"
std::string humanBytes(int64_t bytes);
/// "1234567 bytes (1.18 MiB)": exact, and as people read it.
std::string exactBytes(int64_t bytes);

/// Insertions, deletions, replacements and swaps of neighbours between a and b.
size_t editDistance(std::string_view a, std::string_view b);
/// The name that `name` was perhaps meant to be: at most a third of its letters
/// are wrong. "" if there is none.
std::string similarName(std::string_view name,
                        const std::vector<std::string> &names);

} // namespace weft

#endif // WEFT_BASE_TEXT_H
