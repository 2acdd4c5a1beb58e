//===- Digest.cpp - XXH3 digests ------------------------------------------===//

#include "weft/Formats/Digest.h"

#include "weft/Formats/CheckedFile.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

using namespace weft;

static std::string hex128(XXH128_hash_t hash) {
  return hex64(hash.high64) + hex64(hash.low64);
}

std::string weft::hex64(uint64_t value) {
  std::string result(16, '0');
  for (int i = 15; i >= 0; --i, value >>= 4)
    result[i] = "0123456789abcdef"[value & 15];
  return result;
}

uint64_t weft::digest64(const void *data, size_t bytes) {
  return XXH3_64bits(data, bytes);
}

std::string weft::digest128(const void *data, size_t bytes) {
  return hex128(XXH3_128bits(data, bytes));
}

// The 64- and the 128-bit variant share one state: only the last step differs.
struct Digest::State {
  alignas(64) XXH3_state_t xxh;
};

Digest::Digest() : state(new State) { XXH3_128bits_reset(&state->xxh); }
Digest::Digest(Digest &&) noexcept = default;
Digest &Digest::operator=(Digest &&) noexcept = default;
Digest::~Digest() = default;

void Digest::update(const void *data, size_t bytes) {
  if (bytes)
    XXH3_128bits_update(&state->xxh, data, bytes);
}

uint64_t Digest::value64() const { return XXH3_64bits_digest(&state->xxh); }

std::string Digest::value128() const {
  return hex128(XXH3_128bits_digest(&state->xxh));
}

std::string weft::digestOfBlocks(const std::vector<std::string> &blocks) {
  Digest all;
  for (const std::string &block : blocks)
    all.update(block);
  return all.value128();
}

void BlockDigest::update(const void *data, int64_t bytes) {
  for (auto from = static_cast<const char *>(data); bytes > 0;) {
    const int64_t left = digestBlockBytes - result.bytes % digestBlockBytes;
    const int64_t part = std::min(bytes, left);
    running.update(from, static_cast<size_t>(part));
    from += part;
    bytes -= part;
    result.bytes += part;
    if (part == left) {
      result.blocks.push_back(running.value128());
      running = Digest();
    }
  }
}

FileDigest BlockDigest::finish() {
  if (result.bytes % digestBlockBytes)
    result.blocks.push_back(running.value128());
  result.xxh3 = digestOfBlocks(result.blocks);
  return std::move(result);
}

FileDigest weft::digestBytes(std::string_view bytes) {
  BlockDigest digest;
  digest.update(bytes.data(), static_cast<int64_t>(bytes.size()));
  return digest.finish();
}

Expected<FileDigest> weft::digestFile(const std::string &path) {
  auto file = InputFile::open(path);
  if (!file)
    return file.takeError();
  return CheckedFile(std::move(*file)).digest();
}
