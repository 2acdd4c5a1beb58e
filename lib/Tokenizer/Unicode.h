//===- Unicode.h - Code points, their classes and repairs -------*- C++ -*-===//
//
// Private to lib/Tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_UNICODE_H
#define WEFT_LIB_TOKENIZER_UNICODE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

/// U+FFFD, which takes the place of malformed bytes.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Bytes of the sequence that begins with `lead`, in well-formed UTF-8.
inline size_t sequenceLength(char lead) {
  const unsigned char c = static_cast<unsigned char>(lead);
  return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

/// The code point at `at`, which moves behind it. The text is well formed.
inline char32_t decodeNext(std::string_view text, size_t &at) {
  const auto *byte = reinterpret_cast<const unsigned char *>(&text[at]);
  const size_t length = sequenceLength(text[at]);
  at += length;
  switch (length) {
  case 1:
    return byte[0];
  case 2:
    return char32_t((byte[0] & 0x1F) << 6 | (byte[1] & 0x3F));
  case 3:
    return char32_t((byte[0] & 0x0F) << 12 | (byte[1] & 0x3F) << 6 |
                    (byte[2] & 0x3F));
  default:
    return char32_t((byte[0] & 0x07) << 18 | (byte[1] & 0x3F) << 12 |
                    (byte[2] & 0x3F) << 6 | (byte[3] & 0x3F));
  }
}

/// Where the code point before `at` begins.
inline size_t previousStart(std::string_view text, size_t at) {
  do
    --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

void appendCodePoint(std::string &text, char32_t value);

/// Whether all bytes are below 0x80.
bool isAscii(std::string_view text);
/// Bytes at the front that are well-formed UTF-8.
size_t wellFormedPrefix(std::string_view text);
/// Appends `text` to `out` with U+FFFD in place of each malformed part, which
/// is the longest front of a sequence, as in Unicode 15, section 3.9. Returns
/// the number of replacements.
int64_t appendRepaired(std::string &out, std::string_view text);
/// Bytes at the end that are the front of a sequence without its end.
size_t incompleteSuffix(std::string_view text);

/// The property White_Space.
bool isSpace(char32_t value);
/// Categories N, P, M, Mn, and C but for unassigned code points.
bool isNumeric(char32_t value);
bool isPunctuation(char32_t value);
bool isMark(char32_t value);
bool isNonspacingMark(char32_t value);
bool isOther(char32_t value);
/// A character of \w: letters, marks, decimal digits, letter numbers,
/// connectors, joiners.
bool isWordCharacter(char32_t value);

/// Appends the lower-case form of one character.
void appendLower(std::string &out, char32_t value);

enum class NormalForm { C, D, KC, KD };
/// `text`, which is well formed, in a normal form.
std::string normalForm(std::string_view text, NormalForm form);

/// Where the grapheme cluster that begins at `at` ends.
size_t graphemeEnd(std::string_view text, size_t at);

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_UNICODE_H
