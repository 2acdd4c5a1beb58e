//===- TokenFiles.cpp - Files of tokens that tools write ------------------===//

#include "TokenFiles.h"

#include "weft/Base/Results.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

using namespace weft;

/// The number of tokens in a header has 31 bits.
static constexpr int64_t kMostTokens = 0x7FFFFFFF;
static constexpr size_t kSpillBytes = size_t(4) << 20;

static Error cannotSpill(const std::string &path) {
  return storageError("cannot write: " + errnoText(errno)).at(path);
}

/// Moves the tokens in memory to the temporary file.
Status TokenFileWriter::spill() {
  if (!spilled) {
    std::error_code ignored;
    const std::string prefix =
        isWrittenInPlace(path)
            ? (std::filesystem::temp_directory_path(ignored) / "weft-tokens")
                  .string()
            : path + ".tmp";
    Expected<Temporary> made = Temporary::file(prefix);
    if (!made)
      return made.takeError();
    spilled = std::move(*made);
  }
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t n =
        ::write(spilled.descriptor(), &bytes[at], bytes.size() - at);
    if (n < 0 && errno != EINTR)
      return cannotSpill(spilled.path());
    at += size_t(std::max<ssize_t>(n, 0));
  }
  spilledBytes += int64_t(bytes.size());
  bytes.clear();
  return Status::success();
}

Status TokenFileWriter::add(const int32_t *ids, size_t number) {
  const size_t before = bytes.size();
  bytes.resize(before + width * number);
  for (size_t i = 0; i < number; ++i) // little-endian, as the host
    std::memcpy(&bytes[before + width * i], &ids[i], width);
  digest.update(bytes.data() + before, bytes.size() - before);
  count += int64_t(number);
  if (count > kMostTokens)
    return inputError("expects at most ", kMostTokens,
                      " tokens for a file, but got more")
        .hint("split the text into several files");
  return bytes.size() < kSpillBytes ? Status::success() : spill();
}

Status TokenFileWriter::copySpilled(OutputFile &file) const {
  // Another descriptor, since the temporary's is for writing.
  Expected<std::unique_ptr<ByteSource>> from = InputFile::open(spilled.path());
  if (!from)
    return from.takeError();
  std::vector<uint8_t> part(kSpillBytes);
  for (int64_t at = 0; at < spilledBytes; at += int64_t(part.size())) {
    const int64_t size = std::min(int64_t(part.size()), spilledBytes - at);
    if (Status s = (*from)->read(at, size, part.data()); !s)
      return s;
    if (Status s = file.write(part.data(), size); !s)
      return s;
  }
  return Status::success();
}

Status TokenFileWriter::commit() {
  Expected<OutputFile> file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  std::array<int32_t, 256> header{};
  header[0] = int32_t(width == 4 ? kTokenMagicU32 : kTokenMagicU16);
  header[1] = width == 4 ? 7 : 1;
  header[2] = int32_t(count);
  const std::string value = digest.value128();
  std::memcpy(reinterpret_cast<char *>(header.data()) + kTokenDigestAt,
              value.data(), kTokenDigestChars);
  if (Status s = file->write(header.data(), sizeof header); !s)
    return s;
  if (spilled)
    if (Status s = copySpilled(*file); !s)
      return s;
  if (Status s = file->write(bytes.data(), int64_t(bytes.size())); !s)
    return s;
  return file->commit();
}
