//===- Unicode.cpp - Code points, their classes and repairs ---------------===//

#include "Unicode.h"

#include <utf8proc.h>

#include <cstdlib>
#include <cstring>

namespace weft {

void appendCodePoint(std::string &text, char32_t value) {
  if (value < 0x80) {
    text += char(value);
  } else if (value < 0x800) {
    text += char(0xC0 | value >> 6);
    text += char(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    text += char(0xE0 | value >> 12);
    text += char(0x80 | (value >> 6 & 0x3F));
    text += char(0x80 | (value & 0x3F));
  } else {
    text += char(0xF0 | value >> 18);
    text += char(0x80 | (value >> 12 & 0x3F));
    text += char(0x80 | (value >> 6 & 0x3F));
    text += char(0x80 | (value & 0x3F));
  }
}

/// Bytes at the front without the high bit.
static size_t asciiPrefix(std::string_view text) {
  size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    if (word & 0x8080808080808080ull)
      break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80)
    ++at;
  return at;
}

bool isAscii(std::string_view text) { return asciiPrefix(text) == text.size(); }

namespace {
/// The sequence at the front: the bytes of it that fit, and how many it needs.
struct Sequence {
  size_t valid = 0, needed = 1;
  bool isWhole() const { return valid == needed; }
};
} // namespace

/// The bounds of the second byte exclude overlong forms, surrogates and values
/// above U+10FFFF.
static Sequence sequenceAt(std::string_view text) {
  const unsigned char lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80)
    return {1, 1};
  if (lead < 0xC2 || lead > 0xF4)
    return {0, 1};
  Sequence found{1, lead < 0xE0 ? size_t(2) : lead < 0xF0 ? 3u : 4u};
  unsigned char least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned char most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  while (found.valid < found.needed && found.valid < text.size()) {
    const unsigned char next = static_cast<unsigned char>(text[found.valid]);
    if (next < least || next > most)
      break;
    ++found.valid;
    least = 0x80;
    most = 0xBF;
  }
  return found;
}

size_t wellFormedPrefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    at += asciiPrefix(text.substr(at));
    if (at == text.size())
      break;
    const Sequence sequence = sequenceAt(text.substr(at));
    if (!sequence.isWhole())
      break;
    at += sequence.needed;
  }
  return at;
}

int64_t appendRepaired(std::string &out, std::string_view text) {
  int64_t repairs = 0;
  while (!text.empty()) {
    const size_t good = wellFormedPrefix(text);
    out.append(text.data(), good);
    text.remove_prefix(good);
    if (text.empty())
      break;
    out += kReplacement;
    ++repairs;
    const size_t bad = sequenceAt(text).valid;
    text.remove_prefix(bad ? bad : 1);
  }
  return repairs;
}

size_t incompleteSuffix(std::string_view text) {
  for (size_t length = 1; length <= 3 && length <= text.size(); ++length) {
    const std::string_view tail = text.substr(text.size() - length);
    if ((static_cast<unsigned char>(tail[0]) & 0xC0) == 0x80)
      continue;
    const Sequence sequence = sequenceAt(tail);
    return sequence.valid == length && !sequence.isWhole() ? length : 0;
  }
  return 0;
}

static utf8proc_category_t categoryOf(char32_t value) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(value));
}

bool isSpace(char32_t value) {
  if (value < 0x80)
    return value == ' ' || (value >= '\t' && value <= '\r');
  if (value == 0x85)
    return true;
  const utf8proc_category_t category = categoryOf(value);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

bool isNumeric(char32_t value) {
  const utf8proc_category_t category = categoryOf(value);
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL ||
         category == UTF8PROC_CATEGORY_NO;
}

bool isPunctuation(char32_t value) {
  if (value < 0x80)
    return (value >= 0x21 && value <= 0x2F) ||
           (value >= 0x3A && value <= 0x40) ||
           (value >= 0x5B && value <= 0x60) || (value >= 0x7B && value <= 0x7E);
  const utf8proc_category_t category = categoryOf(value);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool isNonspacingMark(char32_t value) {
  return categoryOf(value) == UTF8PROC_CATEGORY_MN;
}

bool isMark(char32_t value) {
  const utf8proc_category_t category = categoryOf(value);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool isOther(char32_t value) {
  const utf8proc_category_t category = categoryOf(value);
  return category >= UTF8PROC_CATEGORY_CC;
}

bool isWordCharacter(char32_t value) {
  const utf8proc_category_t category = categoryOf(value);
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL)
    return true;
  // Alphabetic symbols: letters in circles and squares.
  return category == UTF8PROC_CATEGORY_PC || value == 0x200C ||
         value == 0x200D || (value >= 0x24B6 && value <= 0x24E9) ||
         (value >= 0x1F130 && value <= 0x1F149) ||
         (value >= 0x1F150 && value <= 0x1F169) ||
         (value >= 0x1F170 && value <= 0x1F189);
}

void appendLower(std::string &out, char32_t value) {
  if (value == 0x130) { // the one character whose lower case has two
    out += "i\xCC\x87";
    return;
  }
  appendCodePoint(out, static_cast<char32_t>(utf8proc_tolower(
                           static_cast<utf8proc_int32_t>(value))));
}

/// Appends the normal form of a run of text, or the run itself where utf8proc
/// fails (it has no such input here).
static void appendForm(std::string &out, std::string_view run, int flags) {
  utf8proc_uint8_t *mapped = nullptr;
  const utf8proc_ssize_t length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t *>(run.data()),
                   static_cast<utf8proc_ssize_t>(run.size()), &mapped,
                   static_cast<utf8proc_option_t>(flags));
  if (length >= 0)
    out.append(reinterpret_cast<char *>(mapped), static_cast<size_t>(length));
  else
    out += run;
  std::free(mapped);
}

std::string normalForm(std::string_view text, NormalForm form) {
  int flags = UTF8PROC_STABLE;
  flags |= form == NormalForm::C || form == NormalForm::KC ? UTF8PROC_COMPOSE
                                                           : UTF8PROC_DECOMPOSE;
  if (form == NormalForm::KC || form == NormalForm::KD)
    flags |= UTF8PROC_COMPAT;
  // ASCII characters are starters that only the one before a mark changes:
  // text falls into runs of ASCII and runs of anything else with the
  // character before it.
  std::string out;
  out.reserve(text.size());
  size_t at = 0;
  while (at < text.size()) {
    size_t ascii = asciiPrefix(text.substr(at));
    if (at + ascii == text.size()) {
      out += text.substr(at);
      break;
    }
    if (ascii > 0)
      --ascii;
    out += text.substr(at, ascii);
    at += ascii;
    size_t end = at + 1;
    while (end < text.size() && static_cast<unsigned char>(text[end]) >= 0x80)
      ++end;
    appendForm(out, text.substr(at, end - at), flags);
    at = end;
  }
  return out;
}

size_t graphemeEnd(std::string_view text, size_t at) {
  utf8proc_int32_t state = 0;
  char32_t last = decodeNext(text, at);
  while (at < text.size()) {
    size_t next = at;
    const char32_t value = decodeNext(text, next);
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(last),
                                         static_cast<utf8proc_int32_t>(value),
                                         &state))
      break;
    last = value;
    at = next;
  }
  return at;
}

} // namespace weft
