//===- MappedFile.cpp - Read-only mapping of a file -----------------------===//

#include "weft/Formats/MappedFile.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft {

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(bytes, other.bytes);
  std::swap(length, other.length);
  std::swap(name, other.name);
  return *this;
}

MappedFile::~MappedFile() {
  if (bytes)
    ::munmap(const_cast<uint8_t *>(bytes), static_cast<size_t>(length));
}

/// Maps an open descriptor; `bytes` stays null for an empty file.
static Status mapDescriptor(int fd, const std::string &path,
                            const uint8_t *&bytes, int64_t &length) {
  struct stat info;
  if (::fstat(fd, &info) != 0)
    return systemError(ExitCode::Input, "cannot read", errno).at(path);
  if (S_ISDIR(info.st_mode))
    return inputError("expects a file, but got a directory").at(path);
  if (!S_ISREG(info.st_mode))
    return inputError("expects a regular file").at(path);
  length = info.st_size;
  if (length == 0)
    return Status::success();
  void *address = ::mmap(nullptr, static_cast<size_t>(length), PROT_READ,
                         MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED)
    return systemError(ExitCode::Input, "cannot map", errno).at(path);
  bytes = static_cast<const uint8_t *>(address);
  return Status::success();
}

Expected<MappedFile> MappedFile::open(const std::string &path) {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  int fd = withoutInterrupts(
      [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (fd < 0)
    return systemError(ExitCode::Input, "cannot open", errno).at(path);
  MappedFile result;
  result.name = path;
  Status status = mapDescriptor(fd, path, result.bytes, result.length);
  ::close(fd);
  if (!status)
    return status.takeError();
  return result;
}

} // namespace weft
