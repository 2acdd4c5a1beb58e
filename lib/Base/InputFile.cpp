//===- InputFile.cpp - Checked reads at positions -------------------------===//

#include "weft/Base/InputFile.h"
#include "weft/Base/Text.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace weft;

/// Small reads that follow each other are served from so much.
static constexpr int64_t windowBytes = int64_t(128) << 10;

static constexpr char kWriteFirst[] =
    "write its bytes to a file first: they are read more than once";

static Error notRegular(mode_t mode, const std::string &path) {
  if (S_ISDIR(mode))
    return inputError("expects a file, but got a directory").at(path);
  const char *kind = S_ISFIFO(mode)   ? "a pipe"
                     : S_ISSOCK(mode) ? "a socket"
                                      : "a device";
  return inputError(std::string("expects a regular file, but got ") + kind)
      .at(path)
      .hint(kWriteFirst);
}

Expected<std::unique_ptr<ByteSource>> InputFile::open(const std::string &path) {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  Descriptor opened(withoutInterrupts([&] {
    return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  }));
  if (!opened) {
    Error error = systemError(ExitCode::Input, "cannot open", errno).at(path);
    // As other tools name standard input.
    return path == "-" ? error.hint(kWriteFirst) : error;
  }
  std::unique_ptr<InputFile> file(new InputFile(std::move(opened), path));
  struct stat info;
  if (::fstat(file->opened.get(), &info) != 0)
    return systemError(ExitCode::Input, "cannot read", errno).at(path);
  if (!S_ISREG(info.st_mode))
    return notRegular(info.st_mode, path);
  file->length = info.st_size;
  return std::unique_ptr<ByteSource>(std::move(file));
}

static Error beyond(const ByteSource &source, int64_t offset, int64_t bytes) {
  return inputError("expects bytes below " + std::to_string(source.size()) +
                    ", but got " + std::to_string(bytes) + " at " +
                    std::to_string(offset))
      .at(source.path());
}

static bool holds(const ByteSource &source, int64_t offset, int64_t bytes) {
  return offset >= 0 && bytes >= 0 && offset <= source.size() &&
         bytes <= source.size() - offset;
}

Status InputFile::read(int64_t offset, int64_t bytes, void *out) {
  if (!holds(*this, offset, bytes))
    return beyond(*this, offset, bytes);
  for (char *to = static_cast<char *>(out); bytes > 0;) {
    ssize_t got = withoutInterrupts(
        [&] { return ::pread(opened.get(), to, size_t(bytes), offset); });
    if (got < 0)
      return systemError(ExitCode::Input, "cannot read", errno).at(name);
    if (got == 0)
      return inputError("expects " + std::to_string(length) +
                        " bytes, but the file now ends before byte " +
                        std::to_string(offset))
          .at(name)
          .hint("it was cut while it was in use");
    to += got;
    offset += got;
    bytes -= got;
  }
  return Status::success();
}

void InputFile::willNeed(int64_t offset, int64_t bytes) {
  (void)::posix_fadvise(opened.get(), offset, bytes, POSIX_FADV_WILLNEED);
}

Status MemoryBytes::read(int64_t offset, int64_t bytes, void *out) {
  if (!holds(*this, offset, bytes))
    return beyond(*this, offset, bytes);
  if (bytes)
    std::memcpy(out, data + offset, static_cast<size_t>(bytes));
  return Status::success();
}

Expected<const uint8_t *> ByteWindow::view(ByteSource &source, int64_t offset,
                                           int64_t bytes) {
  bool inside = offset >= begin && offset <= end && bytes <= end - offset;
  if (!inside) {
    if (!holds(source, offset, bytes))
      return beyond(source, offset, bytes);
    // Read ahead only for a reader that continues at the end of its last view.
    int64_t wanted = bytes;
    if (offset == next)
      wanted = std::max(bytes, std::min(windowBytes, source.size() - offset));
    if (wanted > capacity) {
      buffer.reset(new uint8_t[static_cast<size_t>(wanted)]);
      capacity = wanted;
    }
    begin = end = 0;
    if (Status status = source.read(offset, wanted, buffer.get()); !status)
      return status.takeError();
    begin = offset;
    end = offset + wanted;
  }
  next = offset + bytes;
  return static_cast<const uint8_t *>(buffer.get() + (offset - begin));
}

void weft::askFor(ByteSource &source, ByteRanges ranges) {
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 0; i < ranges.size();) {
    auto [begin, end] = ranges[i];
    for (++i; i < ranges.size() && ranges[i].first - end <= windowBytes; ++i)
      end = std::max(end, ranges[i].second);
    source.willNeed(begin, end - begin);
  }
}

Expected<std::string> weft::readFile(const std::string &path,
                                     int64_t mostBytes) {
  auto file = InputFile::open(path);
  if (!file)
    return file.takeError();
  const int64_t size = (*file)->size();
  if (size > mostBytes)
    return inputError("expects at most " + exactBytes(mostBytes) +
                      ", but the file has " + exactBytes(size))
        .at(path);
  std::string text(static_cast<size_t>(size), '\0');
  if (Status status = (*file)->read(0, size, text.data()); !status)
    return status.takeError();
  return text;
}
