//===- CheckedFile.cpp - Ranges of a file, checked as they are read -------===//

#include "weft/Formats/CheckedFile.h"

#include "weft/Base/ReadProgress.h"
#include "weft/Base/Text.h"

#include <algorithm>
#include <cstring>

using namespace weft;

/// Read and digested at once, so that the digest finds the bytes in the cache.
static constexpr int64_t pieceBytes = int64_t(1) << 19;

CheckedFile::CheckedFile(std::unique_ptr<ByteSource> source)
    : file(std::move(source)),
      expected(static_cast<size_t>(countBlocks(file->size()))),
      seen(expected.size()), again(expected.size()) {}

CheckedFile::CheckedFile(std::unique_ptr<ByteSource> source, FileDigest wanted)
    : file(std::move(source)), expected(std::move(wanted.blocks)),
      seen(expected.size()), again(expected.size()) {}

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
  again[static_cast<size_t>(block)] = false;
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
  std::vector<uint8_t> piece(
      static_cast<size_t>(out ? 0 : std::min(pieceBytes, bytes)));
  Digest running;
  for (int64_t at = 0; at < bytes; at += pieceBytes) {
    const int64_t part = std::min(pieceBytes, bytes - at);
    uint8_t *to = out ? out + at : piece.data();
    if (Status status = file->read(begin + at, part, to); !status)
      return status;
    running.update(to, static_cast<size_t>(part));
  }
  return checkBlock(block, running.value128());
}

void BlockBuffer::reserve(int64_t size) {
  file = nullptr;
  if (capacity >= size)
    return;
  bytes.reset(new uint8_t[static_cast<size_t>(size)]);
  capacity = size;
}

CheckedFile::~CheckedFile() {
  if (buffer->file == this)
    buffer->file = nullptr;
}

void CheckedFile::readRangesAlone() {
  rangesAlone = true;
  seen.assign(seen.size(), false);
  buffer->file = nullptr;
}

Status CheckedFile::load(int64_t block) {
  if (isLoaded(block))
    return Status::success();
  buffer->reserve(std::min(size(), digestBlockBytes));
  if (Status status = readBlock(block, buffer->bytes.get()); !status)
    return status;
  buffer->file = this;
  buffer->block = block;
  return Status::success();
}

Status CheckedFile::readPart(int64_t block, int64_t at, int64_t bytes,
                             uint8_t *out) {
  const bool isWhole = bytes == blockBytes(block);
  if (!isLoaded(block) && isWhole)
    return readBlock(block, out);
  if (!isLoaded(block) && seen[static_cast<size_t>(block)]) {
    again[static_cast<size_t>(block)] = true;
    return file->read(block * digestBlockBytes + at, bytes, out);
  }
  if (Status status = load(block); !status)
    return status;
  std::memcpy(out, buffer->bytes.get() + at, static_cast<size_t>(bytes));
  return Status::success();
}

Status CheckedFile::read(int64_t offset, int64_t bytes, void *out) {
  // The source knows its bounds; it is asked for whole blocks only.
  if (rangesAlone || offset < 0 || bytes < 0 || offset > size() ||
      bytes > size() - offset)
    return file->read(offset, bytes, out);
  for (uint8_t *to = static_cast<uint8_t *>(out); bytes > 0;) {
    const int64_t block = offset / digestBlockBytes;
    const int64_t at = offset % digestBlockBytes;
    const int64_t part = std::min(bytes, blockBytes(block) - at);
    if (Status status = readPart(block, at, part, to); !status)
      return status;
    to += part;
    offset += part;
    bytes -= part;
  }
  return Status::success();
}

Status CheckedFile::readRest(int64_t part, int64_t parts) {
  ReadProgress progress(path(), size() / parts);
  for (int64_t block = part; block < int64_t(seen.size()); block += parts) {
    if (!seen[static_cast<size_t>(block)] || again[static_cast<size_t>(block)])
      if (Status status = readBlock(block, nullptr); !status)
        return status;
    progress.advance(blockBytes(block));
  }
  return Status::success();
}

Expected<FileDigest> CheckedFile::digest() {
  if (Status status = readRest(); !status)
    return status.takeError();
  return FileDigest{size(), digestOfBlocks(expected), expected};
}
