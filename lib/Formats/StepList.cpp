//===- StepList.cpp - Listing, retiring and cleaning of saves -------------===//

#include "weft/Formats/Durable.h"
#include "weft/Formats/Manifest.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>

namespace weft {

/// The names in a directory, sorted; none if it does not exist.
static Expected<std::vector<std::string>> listNames(const std::string &path) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator it(path, error), end;
  for (; !error && it != end; it.increment(error))
    names.push_back(it->path().filename().string());
  if (error && error.value() != ENOENT)
    return checkpointError("cannot list: " + errnoText(error.value())).at(path);
  std::sort(names.begin(), names.end());
  return names;
}

/// Step directories by ascending step, their manifests not read.
static Expected<std::vector<StepEntry>> findSteps(const std::string &path) {
  auto names = listNames(path);
  if (!names)
    return names.takeError();
  std::vector<StepEntry> steps;
  for (const std::string &name : *names)
    if (auto step = parseStepDirectoryName(name))
      steps.push_back({*step, path + "/" + name, ""});
  std::sort(
      steps.begin(), steps.end(),
      [](const StepEntry &a, const StepEntry &b) { return a.step < b.step; });
  return steps;
}

static void readProblem(StepEntry &entry) {
  auto manifest = Manifest::read(entry.path);
  if (!manifest)
    entry.problem = manifest.error().where();
  else if (manifest->step != entry.step)
    entry.problem = entry.path + "/" + manifestName + ": expects step " +
                    std::to_string(entry.step) + ", but got " +
                    std::to_string(manifest->step);
}

Expected<std::vector<StepEntry>> listSteps(const std::string &saveDirectory) {
  auto steps = findSteps(saveDirectory);
  if (steps)
    for (StepEntry &entry : *steps)
      readProblem(entry);
  return steps;
}

static Status removeTree(const std::string &path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error)
    return storageError("cannot remove: " + errnoText(error.value())).at(path);
  return Status::success();
}

Status retireSteps(const std::string &saveDirectory, int64_t keep) {
  if (keep <= 0)
    return Status::success();
  auto steps = listSteps(saveDirectory);
  if (!steps)
    return steps.takeError();
  int64_t usable = 0;
  for (auto entry = steps->rbegin(); entry != steps->rend(); ++entry) {
    if (!entry->problem.empty() || ++usable <= keep)
      continue;
    std::string retired = saveDirectory + "/.tmp-retired-" +
                          stepDirectoryName(entry->step) + "-" +
                          std::to_string(::getpid());
    if (::rename(entry->path.c_str(), retired.c_str()) != 0)
      return storageError("cannot retire: " + errnoText(errno)).at(entry->path);
    if (Status status = removeTree(retired); !status)
      return status;
  }
  return Status::success();
}

/// Whether a live process holds the lock on a directory.
static bool isLocked(const std::string &path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  bool locked = ::flock(fd, LOCK_EX | LOCK_NB) != 0;
  ::close(fd);
  return locked;
}

Status cleanTemporaries(const std::string &saveDirectory) {
  auto names = listNames(saveDirectory);
  if (!names)
    return names.takeError();
  for (const std::string &name : *names) {
    bool ours = name.compare(0, 10, ".tmp-step_") == 0 ||
                name.compare(0, 13, ".tmp-retired-") == 0;
    std::string path = saveDirectory + "/" + name;
    if (!ours || isLocked(path))
      continue;
    if (Status status = removeTree(path); !status)
      return status;
  }
  return Status::success();
}

} // namespace weft
