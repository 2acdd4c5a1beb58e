//===- ByteLevel.cpp - Bytes spelt as printable characters ----------------===//

#include "ByteLevel.h"

#include "Unicode.h"

#include <array>

namespace weft {

namespace {
struct Alphabet {
  std::array<char32_t, 256> characters;
  std::array<int, 0x144> bytes;

  Alphabet() {
    bytes.fill(-1);
    char32_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool isPrintable = (byte >= '!' && byte <= '~') ||
                               (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      const char32_t c = isPrintable ? char32_t(byte) : next++;
      characters[size_t(byte)] = c;
      bytes[c] = byte;
    }
  }
};
} // namespace

static const Alphabet &alphabet() {
  static const Alphabet made;
  return made;
}

std::string spellBytes(std::string_view text) {
  std::string out;
  out.reserve(2 * text.size());
  for (char c : text)
    appendCodePoint(out, alphabet().characters[static_cast<unsigned char>(c)]);
  return out;
}

std::optional<std::string> bytesSpelt(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = decodeNext(text, at);
    if (c >= alphabet().bytes.size() || alphabet().bytes[c] < 0)
      return std::nullopt;
    out += char(alphabet().bytes[c]);
  }
  return out;
}

} // namespace weft
