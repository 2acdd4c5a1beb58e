//===- Digest.h - XXH3 digests ----------------------------------*- C++ -*-===//
//
// XXH3 finds accidental damage; it is no protection against an attacker.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_DIGEST_H
#define WEFT_FORMATS_DIGEST_H

#include "weft/Formats/Error.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft {

uint64_t digest64(const void *data, size_t bytes);
inline uint64_t digest64(std::string_view text) {
  return digest64(text.data(), text.size());
}
/// 32 hexadecimal digits.
std::string digest128(const void *data, size_t bytes);
inline std::string digest128(std::string_view text) {
  return digest128(text.data(), text.size());
}
/// 16 hexadecimal digits.
std::string hex64(uint64_t value);

/// Streaming: any cut of the same bytes gives the same digests.
class Digest {
public:
  Digest();
  Digest(Digest &&) noexcept;
  Digest &operator=(Digest &&) noexcept;
  ~Digest();
  void update(const void *data, size_t bytes);
  void update(std::string_view text) { update(text.data(), text.size()); }
  uint64_t value64() const;
  std::string value128() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Digest and size of a file.
struct FileDigest {
  std::string xxh3; // 32 hexadecimal digits
  int64_t bytes = 0;
};
Expected<FileDigest> digestFile(const std::string &path);

} // namespace weft

#endif // WEFT_FORMATS_DIGEST_H
