//===- OutputFile.cpp - Checked writes and an atomic rename ---------------===//

#include "weft/Formats/OutputFile.h"

#include "weft/Formats/Durable.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace weft {

static constexpr int64_t bufferBytes = 1 << 20;

OutputFile &OutputFile::operator=(OutputFile &&other) noexcept {
  std::swap(fd, other.fd);
  std::swap(total, other.total);
  std::swap(finalPath, other.finalPath);
  std::swap(target, other.target);
  std::swap(temporaryPath, other.temporaryPath);
  std::swap(buffer, other.buffer);
  return *this;
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() {
  if (fd < 0)
    return;
  ::close(fd);
  if (!temporaryPath.empty())
    ::unlink(temporaryPath.c_str());
  fd = -1;
}

/// The file that a link leads to, so that the link stays.
static std::string withoutLinks(const std::string &path) {
  std::unique_ptr<char, decltype(&std::free)> real(
      ::realpath(path.c_str(), nullptr), std::free);
  return real ? real.get() : path;
}

Expected<OutputFile> OutputFile::create(const std::string &path) {
  OutputFile result;
  result.finalPath = path;
  struct stat info;
  bool exists = ::stat(path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT)
    return systemError(ExitCode::Storage, "cannot create", errno).at(path);
  if (exists && S_ISDIR(info.st_mode))
    return storageError("expects a file, but got a directory").at(path);
  // A device or a pipe takes the bytes themselves: a rename would replace it.
  if (exists && !S_ISREG(info.st_mode)) {
    result.fd = withoutInterrupts(
        [&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); });
  } else {
    result.target = withoutLinks(path);
    result.temporaryPath = result.target + ".tmp-" + std::to_string(::getpid());
    result.fd = withoutInterrupts([&] {
      return ::open(result.temporaryPath.c_str(),
                    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    });
  }
  if (result.fd < 0)
    return storageError("cannot create: " + errnoText(errno)).at(path);
  return result;
}

Status OutputFile::writeAll(const char *data, int64_t bytes) {
  while (bytes > 0) {
    ssize_t written = ::write(fd, data, static_cast<size_t>(bytes));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return storageError("cannot write: " +
                          errnoText(written < 0 ? errno : ENOSPC))
          .at(finalPath);
    data += written;
    bytes -= written;
  }
  return Status::success();
}

Status OutputFile::flush() {
  Status status = writeAll(buffer.data(), static_cast<int64_t>(buffer.size()));
  buffer.clear();
  return status;
}

Status OutputFile::write(const void *data, int64_t bytes) {
  const char *text = static_cast<const char *>(data);
  total += bytes;
  if (static_cast<int64_t>(buffer.size()) + bytes > bufferBytes)
    if (Status status = flush(); !status)
      return status;
  if (bytes >= bufferBytes)
    return writeAll(text, bytes);
  buffer.insert(buffer.end(), text, text + bytes);
  return Status::success();
}

/// Linux closes a file even when a signal interrupts close().
static int closeOnce(int fd) {
  int result = ::close(fd);
  return result != 0 && errno == EINTR ? 0 : result;
}

Status OutputFile::closeInPlace() {
  int closed = closeOnce(fd);
  fd = -1;
  if (closed != 0)
    return storageError("cannot finish: " + errnoText(errno)).at(finalPath);
  return Status::success();
}

Status OutputFile::commit() {
  if (Status status = flush(); !status)
    return status;
  if (temporaryPath.empty())
    return closeInPlace();
  if (withoutInterrupts([&] { return ::fsync(fd); }) != 0)
    return storageError("cannot flush to disk: " + errnoText(errno))
        .at(finalPath);
  // close() may be the first call to report a full network disk.
  int closed = closeOnce(fd);
  fd = -1;
  auto rename = [&] { return ::rename(temporaryPath.c_str(), target.c_str()); };
  if (closed != 0 || withoutInterrupts(rename) != 0) {
    int number = errno;
    ::unlink(temporaryPath.c_str());
    return storageError("cannot finish: " + errnoText(number)).at(finalPath);
  }
  return syncPath(parentOf(target));
}

Status writeFile(const std::string &path, std::string_view text) {
  auto out = OutputFile::create(path);
  if (!out)
    return out.takeError();
  if (Status status = out->write(text); !status)
    return status;
  return out->commit();
}

} // namespace weft
