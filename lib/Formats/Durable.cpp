//===- Durable.cpp - Names, flushing and making of directories ------------===//

#include "weft/Formats/Durable.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft {

std::string stepDirectoryName(int64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "step_%08" PRId64, step);
  return name;
}

std::optional<int64_t> parseStepDirectoryName(const std::string &name) {
  if (name.size() < 13 || name.size() > 5 + 18 || name.compare(0, 5, "step_"))
    return std::nullopt;
  int64_t step = 0;
  for (size_t i = 5; i < name.size(); ++i) {
    if (name[i] < '0' || name[i] > '9')
      return std::nullopt;
    step = step * 10 + (name[i] - '0');
  }
  // One spelling per step: no extra zeros.
  if (stepDirectoryName(step) != name)
    return std::nullopt;
  return step;
}

Status syncPath(const std::string &path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  int failed = fd < 0 || ::fsync(fd) != 0 ? errno : 0;
  if (fd >= 0)
    ::close(fd);
  if (failed)
    return storageError("cannot flush to disk: " + errnoText(failed)).at(path);
  return Status::success();
}

Status makeDirectories(const std::string &path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0777) != 0) {
      int number = errno;
      struct stat info;
      bool isDirectory =
          ::stat(part.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
      if (!isDirectory)
        return storageError("cannot create the directory: " + errnoText(number))
            .at(part);
    }
    if (slash == path.npos)
      return Status::success();
  }
}

} // namespace weft
