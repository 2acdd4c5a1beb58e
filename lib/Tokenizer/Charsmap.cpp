//===- Charsmap.cpp - Replacements that SentencePiece compiled ------------===//

#include "Charsmap.h"

#include "Unicode.h"

#include "weft/Base/Results.h"

#include <cstring>

namespace weft {

Expected<Charsmap> Charsmap::parse(std::string_view bytes) {
  uint32_t trieBytes = 0;
  if (bytes.size() >= 4)
    std::memcpy(&trieBytes, bytes.data(), 4);
  if (bytes.size() < 8 || trieBytes % 4 != 0 || trieBytes < 4 ||
      trieBytes > bytes.size() - 4)
    return inputError("expects a character map with a trie of at most ",
                      bytes.size(), " bytes, but got one of ", trieBytes);
  Charsmap map;
  map.units.resize(trieBytes / 4);
  std::memcpy(map.units.data(), bytes.data() + 4, trieBytes);
  map.replacements = bytes.substr(4 + trieBytes);
  if (map.replacements.empty() || map.replacements.back() != '\0')
    return inputError("expects a null byte at the end of a character map, but "
                      "got none");
  if (wellFormedPrefix(map.replacements) != map.replacements.size())
    return inputError("expects UTF-8 in the replacements of a character map, "
                      "but got other bytes");
  return map;
}

static int digitOfBase64(char c) {
  return c >= 'A' && c <= 'Z'   ? c - 'A'
         : c >= 'a' && c <= 'z' ? c - 'a' + 26
         : c >= '0' && c <= '9' ? c - '0' + 52
         : c == '+'             ? 62
         : c == '/'             ? 63
                                : -1;
}

Expected<Charsmap> Charsmap::parseBase64(std::string_view text) {
  while (!text.empty() && text.back() == '=')
    text.remove_suffix(1);
  std::string bytes;
  uint32_t bits = 0, held = 0;
  for (char c : text) {
    const int digit = digitOfBase64(c);
    if (digit < 0)
      return inputError("expects base64, but got ",
                        inQuotes(std::string(1, c)));
    bits = bits << 6 | uint32_t(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes += char(bits >> held & 0xFF);
    }
  }
  return parse(bytes);
}

/// Calls `visit(length, value)` for each key at the front until it is false.
/// The layout of a unit is Darts-clone's.
template <typename Visit>
void Charsmap::forPrefixes(std::string_view text, const Visit &visit) const {
  auto offsetOf = [](uint32_t unit) {
    return (unit >> 10) << ((unit & (1u << 9)) >> 6);
  };
  uint32_t node = offsetOf(units[0]);
  for (size_t at = 0; at < text.size() && text[at] != '\0'; ++at) {
    const uint32_t label = static_cast<unsigned char>(text[at]);
    node ^= label;
    if (node >= units.size())
      return;
    const uint32_t unit = units[node];
    if ((unit & (1u << 31 | 0xFF)) != label)
      return;
    node ^= offsetOf(unit);
    if (node >= units.size())
      return;
    if ((unit >> 8 & 1) && !visit(at + 1, units[node] & 0x7FFFFFFF))
      return;
  }
}

std::optional<Charsmap::Match> Charsmap::matchAt(size_t length,
                                                 uint32_t value) const {
  if (value >= replacements.size())
    return std::nullopt;
  return Match{length, std::string_view(replacements.data() + value)};
}

std::optional<Charsmap::Match> Charsmap::shortest(std::string_view text) const {
  std::optional<Match> found;
  forPrefixes(text, [&](size_t length, uint32_t value) {
    found = matchAt(length, value);
    return false;
  });
  return found;
}

std::optional<Charsmap::Match> Charsmap::longest(std::string_view text) const {
  std::optional<Match> found;
  forPrefixes(text, [&](size_t length, uint32_t value) {
    found = matchAt(length, value);
    return true;
  });
  return found;
}

std::string Charsmap::mapClusters(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t end = graphemeEnd(text, at);
    const std::string_view cluster = text.substr(at, end - at);
    // A key at the front stands for the whole cluster, however long it is.
    std::optional<Match> whole;
    if (cluster.size() < 6)
      whole = shortest(cluster);
    if (whole) {
      out += whole->replacement;
      at = end;
      continue;
    }
    while (at < end) {
      const size_t length = sequenceLength(text[at]);
      const std::string_view character = text.substr(at, length);
      const std::optional<Match> match = shortest(character);
      out += match ? match->replacement : character;
      at += length;
    }
  }
  return out;
}

std::string Charsmap::mapLongest(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const std::optional<Match> match = longest(text.substr(at));
    const size_t length = match ? match->length : sequenceLength(text[at]);
    out += match ? match->replacement : text.substr(at, length);
    at += length;
  }
  return out;
}

} // namespace weft
