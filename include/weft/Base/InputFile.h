//===- InputFile.h - Files that are read at positions -----------*- C++ -*-===//
//
// Input is read with pread into buffers of the caller, never mapped: a file
// that is truncated while it is read is an error with its name, not a signal.
// size() is the size of the open file, so a file that is renamed over this one
// has no effect.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_INPUTFILE_H
#define WEFT_BASE_INPUTFILE_H

#include "weft/Base/Descriptor.h"
#include "weft/Base/Error.h"

#include <cstdint>
#include <vector>

namespace weft {

/// Bytes at positions.
class ByteSource {
public:
  virtual ~ByteSource() = default;

  virtual int64_t size() const = 0;
  /// For messages.
  virtual const std::string &path() const = 0;
  /// Copies bytes [offset, offset + bytes), which lie below size(), to `out`.
  virtual Status read(int64_t offset, int64_t bytes, void *out) = 0;
  /// Asks for bytes that are read soon; returns at once.
  virtual void willNeed(int64_t offset, int64_t bytes) {}
};

/// A regular file; anything else is an input error (a pipe is never waited
/// for).
class InputFile : public ByteSource {
public:
  static Expected<std::unique_ptr<ByteSource>> open(const std::string &path);

  int64_t size() const override { return length; }
  const std::string &path() const override { return name; }
  /// A file that became shorter is an input error.
  Status read(int64_t offset, int64_t bytes, void *out) override;
  void willNeed(int64_t offset, int64_t bytes) override;

private:
  InputFile(Descriptor opened, std::string name)
      : opened(std::move(opened)), name(std::move(name)) {}

  Descriptor opened;
  int64_t length = 0;
  std::string name;
};

/// Bytes in memory, which must outlive it.
class MemoryBytes : public ByteSource {
public:
  MemoryBytes(const uint8_t *data, int64_t bytes, std::string name)
      : data(data), length(bytes), name(std::move(name)) {}

  int64_t size() const override { return length; }
  const std::string &path() const override { return name; }
  Status read(int64_t offset, int64_t bytes, void *out) override;

private:
  const uint8_t *data;
  int64_t length;
  std::string name;
};

/// A moving window of a source: one read from the source serves many small
/// reads of consecutive bytes.
class ByteWindow {
public:
  /// `bytes` bytes at `offset`, until the next call.
  Expected<const uint8_t *> view(ByteSource &source, int64_t offset,
                                 int64_t bytes);

private:
  std::unique_ptr<uint8_t[]> buffer;
  int64_t capacity = 0;
  int64_t begin = 0, end = 0; // bytes in the buffer
  int64_t next = 0;           // where the last view ended
};

/// Bytes [first, second) of a source.
using ByteRanges = std::vector<std::pair<int64_t, int64_t>>;
/// Prefetches all of them; nearby ranges share one request.
void askFor(ByteSource &source, ByteRanges ranges);

/// The text of a whole file of at most `mostBytes`.
Expected<std::string> readFile(const std::string &path,
                               int64_t mostBytes = int64_t(1) << 30);

} // namespace weft

#endif // WEFT_BASE_INPUTFILE_H
