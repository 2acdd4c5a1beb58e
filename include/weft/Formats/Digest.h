//===- Digest.h - XXH3 digests ----------------------------------*- C++ -*-===//
//
// XXH3 finds accidental damage; it is no protection against an attacker.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_DIGEST_H
#define WEFT_FORMATS_DIGEST_H

#include "weft/Base/Error.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

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

/// Files are digested in blocks of this size (the last block may be smaller),
/// so that a part of a file can be checked without the rest.
constexpr int64_t digestBlockBytes = int64_t(16) << 20;

/// How many blocks a file has.
inline int64_t countBlocks(int64_t bytes) {
  return bytes / digestBlockBytes + (bytes % digestBlockBytes != 0);
}

/// Size and digests of a file.
struct FileDigest {
  int64_t bytes = 0;
  std::string xxh3;                // of the digits of all `blocks`
  std::vector<std::string> blocks; // 32 hexadecimal digits each
};

/// The digest of the blocks' digests.
std::string digestOfBlocks(const std::vector<std::string> &blocks);

/// Streaming, as above.
class BlockDigest {
public:
  void update(const void *data, int64_t bytes);
  /// Only once.
  FileDigest finish();

private:
  Digest running;
  FileDigest result;
};

FileDigest digestBytes(std::string_view bytes);
Expected<FileDigest> digestFile(const std::string &path);

} // namespace weft

#endif // WEFT_FORMATS_DIGEST_H
