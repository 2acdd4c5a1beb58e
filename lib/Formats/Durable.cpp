//===- Durable.cpp - Writing and committing a step directory --------------===//

#include "weft/Formats/Durable.h"

#include "weft/Formats/Manifest.h"

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
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

//===----------------------------------------------------------------------===//
// StepWriter
//===----------------------------------------------------------------------===//

StepWriter &StepWriter::operator=(StepWriter &&other) noexcept {
  std::swap(parent, other.parent);
  std::swap(temporary, other.temporary);
  std::swap(stepNumber, other.stepNumber);
  std::swap(lock, other.lock);
  return *this;
}

StepWriter::~StepWriter() { discard(); }

void StepWriter::discard() {
  if (lock < 0)
    return;
  std::error_code ignored;
  std::filesystem::remove_all(temporary, ignored);
  ::close(lock);
  lock = -1;
}

/// Makes a new directory `PREFIX-PID-N` and returns its name.
static Expected<std::string> makeTemporary(const std::string &prefix) {
  static std::atomic<int> counter{0};
  for (;;) {
    std::string path = prefix + "-" + std::to_string(::getpid()) + "-" +
                       std::to_string(counter++);
    if (::mkdir(path.c_str(), 0777) == 0)
      return path;
    // Taken by a left-over of an earlier process with our number: try the next.
    if (errno != EEXIST)
      return storageError("cannot create the directory: " + errnoText(errno))
          .at(path);
  }
}

Expected<StepWriter> StepWriter::begin(const std::string &saveDirectory,
                                       int64_t step, bool replace) {
  if (Status status = makeDirectories(saveDirectory); !status)
    return status.takeError();
  std::string name = stepDirectoryName(step);
  std::string path = saveDirectory + "/" + name;
  if (!replace && Manifest::read(path).ok())
    return checkpointError("step " + std::to_string(step) + " is already saved")
        .at(path)
        .hint("save into another directory, or resume from its newest step");
  auto temporary = makeTemporary(saveDirectory + "/.tmp-" + name);
  if (!temporary)
    return temporary.takeError();
  StepWriter writer;
  writer.parent = saveDirectory;
  writer.temporary = *temporary;
  writer.stepNumber = step;
  writer.lock = ::open(temporary->c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (writer.lock < 0)
    return storageError("cannot open: " + errnoText(errno)).at(*temporary);
  // Without locks (some network file systems) cleaning leaves the directory.
  (void)::flock(writer.lock, LOCK_EX | LOCK_NB);
  return writer;
}

/// fsync of each file in a directory, then of the directory.
static Status syncDirectory(const std::string &path) {
  std::error_code error;
  for (std::filesystem::directory_iterator it(path, error), end;
       !error && it != end; it.increment(error))
    if (Status status = syncPath(it->path().string()); !status)
      return status;
  if (error)
    return storageError("cannot list: " + errnoText(error.value())).at(path);
  return syncPath(path);
}

/// Renames a directory; an old one in the way goes to `from` in one step, or in
/// two where the file system cannot exchange.
static Status putInPlace(const std::string &from, const std::string &to,
                         bool &exchanged) {
  exchanged = false;
  if (::rename(from.c_str(), to.c_str()) == 0)
    return Status::success();
  if (errno == ENOTEMPTY || errno == EEXIST) {
    exchanged = ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(),
                            RENAME_EXCHANGE) == 0;
    if (exchanged)
      return Status::success();
    std::string aside = from + "-old";
    if (::rename(to.c_str(), aside.c_str()) == 0 &&
        ::rename(from.c_str(), to.c_str()) == 0) {
      std::error_code ignored;
      std::filesystem::remove_all(aside, ignored);
      return Status::success();
    }
  }
  return storageError("cannot rename " + from + ": " + errnoText(errno)).at(to);
}

Expected<std::string> StepWriter::commit() {
  auto manifest = Manifest::read(temporary);
  if (!manifest)
    return manifest.takeError().withCode(ExitCode::Internal);
  if (manifest->step != stepNumber)
    return Error(ExitCode::Internal,
                 "expects the manifest of step " + std::to_string(stepNumber) +
                     ", but got step " + std::to_string(manifest->step))
        .at(temporary);
  if (Status status = syncDirectory(temporary); !status)
    return status.takeError();
  std::string path = parent + "/" + stepDirectoryName(stepNumber);
  bool exchanged = false;
  if (Status status = putInPlace(temporary, path, exchanged); !status)
    return status.takeError();
  Status synced = syncPath(parent);
  if (exchanged)
    discard();
  else if (lock >= 0)
    ::close(lock);
  lock = -1;
  if (!synced)
    return synced.takeError();
  return path;
}

} // namespace weft
