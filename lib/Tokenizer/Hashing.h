//===- Hashing.h - Hashes of words and pairs of tokens ----------*- C++ -*-===//
//
// Private to lib/Tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_HASHING_H
#define WEFT_LIB_TOKENIZER_HASHING_H

#include <cstdint>
#include <cstring>
#include <string_view>

namespace weft {

inline uint64_t mixBits(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

inline uint64_t hashPair(uint64_t pair) {
  return mixBits(pair ^ 0x9E3779B97F4A7C15ull, 0xD6E8FEB86659FD93ull);
}

/// Up to eight bytes as a number.
inline uint64_t loadUpTo8(const char *data, size_t length) {
  uint64_t word = 0;
  std::memcpy(&word, data, length < 8 ? length : 8);
  return word;
}

inline uint64_t hashText(std::string_view text) {
  uint64_t hash = 0x9E3779B97F4A7C15ull ^ text.size();
  const char *data = text.data();
  size_t left = text.size();
  for (; left > 8; left -= 8, data += 8)
    hash = mixBits(hash ^ loadUpTo8(data, 8), 0xA0761D6478BD642Full);
  return mixBits(hash ^ loadUpTo8(data, left), 0xE7037ED1A0B428DBull);
}

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_HASHING_H
