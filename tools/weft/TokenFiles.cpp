//===- TokenFiles.cpp - Files of tokens that tools write ------------------===//

#include "TokenFiles.h"

#include "weft/Base/Results.h"

#include <array>
#include <cstring>

using namespace weft;

static constexpr int32_t kMagicU16 = 20240520, kMagicU32 = 20240801;
/// The number of tokens in a header has 31 bits.
static constexpr int64_t kMostTokens = 0x7FFFFFFF;

Status TokenFileWriter::add(const int32_t *ids, size_t count) {
  const size_t width = isWide ? 4 : 2;
  const size_t before = bytes.size();
  bytes.resize(before + width * count);
  for (size_t i = 0; i < count; ++i) // little-endian, as the host
    std::memcpy(&bytes[before + width * i], &ids[i], width);
  if (int64_t(bytes.size() / width) > kMostTokens)
    return inputError("expects at most ", kMostTokens,
                      " tokens for a file, but got more")
        .hint("split the text into several files");
  return Status::success();
}

Status TokenFileWriter::commit() {
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  std::array<int32_t, 256> header{};
  header[0] = isWide ? kMagicU32 : kMagicU16;
  header[1] = isWide ? 7 : 1;
  header[2] = int32_t(bytes.size() / (isWide ? 4 : 2));
  if (Status s = file->write(header.data(), sizeof header); !s)
    return s;
  if (Status s = file->write(bytes.data(), int64_t(bytes.size())); !s)
    return s;
  return file->commit();
}

bool weft::isTokenFile(const std::string &path) {
  Expected<std::unique_ptr<ByteSource>> file = InputFile::open(path);
  int32_t magic = 0;
  if (!file || (*file)->size() < 4 || !(*file)->read(0, 4, &magic))
    return false;
  return magic == kMagicU16 || magic == kMagicU32;
}
