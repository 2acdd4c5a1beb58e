//===- CheckedFile.cpp - Ranges of a file, checked as they are read -------===//

#include "weft/Formats/CheckedFile.h"
#include "weft/Formats/Text.h"

#include <algorithm>
#include <cstring>

namespace weft {

/// Read and digested at once, so that the digest finds the bytes in the cache.
static constexpr int64_t pieceBytes = int64_t(1) << 19;

CheckedFile::CheckedFile(std::unique_ptr<ByteSource> source)
    : file(std::move(source)),
      expected(static_cast<size_t>(countBlocks(file->size()))),
      seen(expected.size()) {}

CheckedFile::CheckedFile(std::unique_ptr<ByteSource> source, FileDigest wanted)
    : file(std::move(source)), expected(std::move(wanted.blocks)),
      seen(expected.size()) {}

Expected<std::unique_ptr<CheckedFile>>
CheckedFile::open(const std::string &path, FileDigest expected) {
  auto file = InputFile::open(path);
  if (!file)
    return file.takeError();
  if ((*file)->size() != expected.bytes)
    return inputError("expects " + exactBytes(expected.bytes) +
                      ", but the file has " + exactBytes((*file)->size()))
        .at(path);
  return std::make_unique<CheckedFile>(std::move(*file), std::move(expected));
}

int64_t CheckedFile::blockBytes(int64_t block) const {
  return std::min(digestBlockBytes, size() - block * digestBlockBytes);
}

Status CheckedFile::checkBlock(int64_t block, const std::string &digest) {
  std::string &wanted = expected[static_cast<size_t>(block)];
  if (wanted.empty())
    wanted = digest;
  seen[static_cast<size_t>(block)] = wanted == digest;
  if (wanted == digest)
    return Status::success();
  const int64_t begin = block * digestBlockBytes;
  return inputError("expects digest " + wanted + " of block " +
                    std::to_string(block) + " (bytes " + std::to_string(begin) +
                    " to " + std::to_string(begin + blockBytes(block) - 1) +
                    "), but got " + digest)
      .at(path());
}

Status CheckedFile::readBlock(int64_t block, uint8_t *out) {
  const int64_t begin = block * digestBlockBytes, bytes = blockBytes(block);
  Digest running;
  for (int64_t at = 0; at < bytes; at += pieceBytes) {
    const int64_t part = std::min(pieceBytes, bytes - at);
    if (Status status = file->read(begin + at, part, out + at); !status)
      return status;
    running.update(out + at, static_cast<size_t>(part));
  }
  return checkBlock(block, running.value128());
}

Status CheckedFile::load(int64_t block) {
  if (block == loaded)
    return Status::success();
  loaded = -1;
  if (!buffer)
    buffer.reset(
        new uint8_t[static_cast<size_t>(std::min(size(), digestBlockBytes))]);
  if (Status status = readBlock(block, buffer.get()); !status)
    return status;
  loaded = block;
  return Status::success();
}

Status CheckedFile::read(int64_t offset, int64_t bytes, void *out) {
  // The source knows its bounds; it is asked for whole blocks only.
  if (offset < 0 || bytes < 0 || offset > size() || bytes > size() - offset)
    return file->read(offset, bytes, out);
  for (uint8_t *to = static_cast<uint8_t *>(out); bytes > 0;) {
    const int64_t block = offset / digestBlockBytes;
    const int64_t at = offset % digestBlockBytes;
    const int64_t part = std::min(bytes, blockBytes(block) - at);
    const bool isWhole = part == blockBytes(block);
    Status status =
        isWhole && block != loaded ? readBlock(block, to) : load(block);
    if (!status)
      return status;
    if (!isWhole || block == loaded)
      std::memcpy(to, buffer.get() + at, static_cast<size_t>(part));
    to += part;
    offset += part;
    bytes -= part;
  }
  return Status::success();
}

Status CheckedFile::readRest() {
  for (size_t block = 0; block < seen.size(); ++block)
    if (!seen[block])
      if (Status status = load(static_cast<int64_t>(block)); !status)
        return status;
  return Status::success();
}

Expected<FileDigest> CheckedFile::digest() {
  if (Status status = readRest(); !status)
    return status.takeError();
  return FileDigest{size(), digestOfBlocks(expected), expected};
}

} // namespace weft
