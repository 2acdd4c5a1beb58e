//===- TokenDigest.cpp - The digest in a header of tokens -----------------===//

#include "weft/Formats/TokenFile.h"

#include <algorithm>

using namespace weft;

static bool isHexadecimal(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

bool weft::isTokenFile(const std::string &path) {
  Expected<std::unique_ptr<ByteSource>> file = InputFile::open(path);
  uint32_t magic = 0;
  if (!file || (*file)->size() < int64_t(sizeof magic) ||
      !(*file)->read(0, sizeof magic, &magic))
    return false;
  return magic == kTokenMagicU16 || magic == kTokenMagicU32;
}

std::optional<bool> weft::checkTokenDigest(const std::string &path) {
  Expected<std::unique_ptr<ByteSource>> source = InputFile::open(path);
  std::string stored(kTokenDigestChars, '\0');
  if (!source || !isTokenFile(path) ||
      (*source)->size() < kTokenDigestAt + kTokenDigestChars ||
      !(*source)->read(kTokenDigestAt, kTokenDigestChars, stored.data()) ||
      !isHexadecimal(stored))
    return std::nullopt;
  Expected<TokenFile> file =
      TokenFile::open(std::move(*source), TokenFormat::Auto);
  if (!file)
    return false;
  Expected<std::string> found = file->digest();
  return found && *found == stored;
}
