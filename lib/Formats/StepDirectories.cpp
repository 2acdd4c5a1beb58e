//===- StepDirectories.cpp - Writing and committing a step directory ------===//

#include "weft/Formats/StepDirectories.h"

#include "weft/Base/Durable.h"
#include "weft/Formats/Manifest.h"

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
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

//===----------------------------------------------------------------------===//
// StepWriter
//===----------------------------------------------------------------------===//

StepWriter &StepWriter::operator=(StepWriter &&other) noexcept {
  std::swap(parent, other.parent);
  std::swap(temporary, other.temporary);
  std::swap(stepNumber, other.stepNumber);
  return *this;
}

StepWriter::~StepWriter() {
  std::error_code ignored;
  if (!temporary.empty())
    std::filesystem::remove_all(temporary, ignored);
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
      return systemError(ExitCode::Storage, "cannot create the directory",
                         errno)
          .at(path);
  }
}

static Error alreadySaved(int64_t step, const std::string &path) {
  return checkpointError("step " + std::to_string(step) + " is already saved")
      .at(path)
      .hint("save into another directory, or resume from its newest step");
}

Expected<StepWriter> StepWriter::begin(const std::string &saveDirectory,
                                       int64_t step) {
  if (Status status = makeDirectories(saveDirectory); !status)
    return status.takeError();
  std::string name = stepDirectoryName(step);
  std::string path = saveDirectory + "/" + name;
  struct stat info;
  if (::lstat((saveDirectory + "/" + manifestName).c_str(), &info) == 0)
    return checkpointError("expects a save directory, but got a checkpoint")
        .at(saveDirectory);
  if (::lstat(path.c_str(), &info) == 0)
    return alreadySaved(step, path);
  auto temporary = makeTemporary(saveDirectory + "/.tmp-" + name);
  if (!temporary)
    return temporary.takeError();
  StepWriter writer;
  writer.parent = saveDirectory;
  writer.temporary = *temporary;
  writer.stepNumber = step;
  return writer;
}

/// fsync of each file in a directory, then of the directory.
static Status syncDirectory(const std::string &path) {
  auto names = listNames(path);
  if (!names)
    return names.takeError();
  for (const std::string &name : *names)
    if (Status status = syncPath(path + "/" + name); !status)
      return status;
  return syncPath(path);
}

Expected<std::string> StepWriter::commit(const Manifest &manifest) {
  if (manifest.step != stepNumber)
    return Error(ExitCode::Internal,
                 "expects the manifest of step " + std::to_string(stepNumber) +
                     ", but got step " + std::to_string(manifest.step))
        .at(temporary);
  if (Status status = manifest.write(temporary); !status)
    return status.takeError();
  if (Status status = syncDirectory(temporary); !status)
    return status.takeError();
  std::string path = parent + "/" + stepDirectoryName(stepNumber);
  int failed = renameToNew(temporary, path);
  if (failed == EEXIST)
    return alreadySaved(stepNumber, path);
  if (failed)
    return systemError(ExitCode::Storage, "cannot rename " + temporary, failed)
        .at(path);
  temporary.clear();
  if (Status synced = syncPath(parent); !synced)
    return synced.takeError();
  return path;
}

} // namespace weft
