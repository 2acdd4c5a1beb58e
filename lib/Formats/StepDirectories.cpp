//===- StepDirectories.cpp - Steps of a save directory --------------------===//

#include "weft/Formats/StepDirectories.h"

#include "weft/Base/Durable.h"
#include "weft/Formats/Manifest.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace weft;

std::string weft::stepDirectoryName(int64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "step_%08" PRId64, step);
  return name;
}

std::optional<int64_t> weft::parseStepDirectoryName(const std::string &name) {
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
  // The directory may be moved as soon as the step is in it.
  auto folder = HeldDirectory::open(parent);
  if (!folder)
    return folder.takeError();
  std::string path = parent + "/" + stepDirectoryName(stepNumber);
  int failed = renameToNew(temporary, path);
  if (failed == EEXIST)
    return alreadySaved(stepNumber, path);
  if (failed)
    return systemError(ExitCode::Storage, "cannot rename " + temporary, failed)
        .at(path);
  temporary.clear();
  if (Status synced = folder->sync(); !synced)
    return synced.takeError();
  return path;
}

//===----------------------------------------------------------------------===//
// Listing, retiring and cleaning
//===----------------------------------------------------------------------===//

Expected<std::vector<std::string>> weft::listNames(const std::string &path) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator it(path, error), end;
  while (error == std::errc::interrupted)
    it = std::filesystem::directory_iterator(path, error);
  for (; !error && it != end; it.increment(error))
    names.push_back(it->path().filename().string());
  std::error_code ignored;
  if (error && std::filesystem::exists(path, ignored) &&
      !std::filesystem::is_directory(path, ignored))
    return Error(ExitCode::Checkpoint,
                 "expects a folder of checkpoints, but got a file")
        .at(path);
  if (error && error.value() != ENOENT)
    return systemError(ExitCode::Checkpoint, "cannot list", error.value())
        .at(path)
        .ofCheckpoint();
  std::sort(names.begin(), names.end());
  return names;
}

bool weft::holdsCheckpoints(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::exists(fs::path(path) / manifestName, ignored))
    return true;
  for (fs::directory_iterator it(path, ignored), end; !ignored && it != end;
       it.increment(ignored))
    if (fs::exists(it->path() / manifestName, ignored))
      return true;
  return false;
}

Expected<std::vector<StepEntry>> weft::findSteps(const std::string &path) {
  auto names = listNames(path);
  if (!names)
    return names.takeError();
  std::vector<StepEntry> steps;
  for (const std::string &name : *names)
    if (auto step = parseStepDirectoryName(name))
      steps.push_back({*step, path + "/" + name, std::nullopt});
  std::sort(
      steps.begin(), steps.end(),
      [](const StepEntry &a, const StepEntry &b) { return a.step < b.step; });
  return steps;
}

/// A writer retires a step only when there are newer ones: who meets one that
/// goes away lists again. So often, over a second, is never needed, unless
/// another program locks the directories.
static constexpr int manyTries = 100;

static void waitForRetirement() {
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

static Error someLocked(const std::string &folder) {
  return storageError("cannot lock a checkpoint: another process has locked "
                      "its directory")
      .at(folder);
}

/// Reads the manifests; false if a step went away meanwhile and is left out.
static bool readManifests(std::vector<StepEntry> &steps) {
  std::vector<StepEntry> present;
  for (StepEntry &entry : steps) {
    StepGuard guard = StepGuard::ofReader(entry.path);
    if (!guard.isThere())
      continue;
    auto manifest = Manifest::read(entry.path);
    if (!manifest)
      entry.problem = manifest.takeError();
    else {
      entry.valLoss = manifest->valLoss;
      entry.onlyBest = manifest->onlyBest;
    }
    present.push_back(std::move(entry));
  }
  bool all = present.size() == steps.size();
  steps = std::move(present);
  return all;
}

Expected<std::vector<StepEntry>>
weft::listSteps(const std::string &saveDirectory) {
  for (int i = 0; i < manyTries; ++i) {
    auto steps = findSteps(saveDirectory);
    if (!steps || readManifests(*steps))
      return steps;
    waitForRetirement();
  }
  return someLocked(saveDirectory);
}

const StepEntry *weft::findBest(const std::vector<StepEntry> &steps) {
  const StepEntry *best = nullptr;
  for (const StepEntry &entry : steps)
    if (entry.valLoss && (!best || *entry.valLoss < *best->valLoss))
      best = &entry;
  return best;
}

Expected<std::optional<std::string>>
weft::findBestStep(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path name(path);
  if (name.filename() != "best" || fs::exists(name, error))
    return std::optional<std::string>();
  std::string parent = name.parent_path().string();
  auto steps = listSteps(parent.empty() ? "." : parent);
  if (!steps)
    return steps.takeError();
  if (const StepEntry *best = findBest(*steps))
    return std::optional<std::string>(best->path);
  return checkpointError("expects a checkpoint with a validation loss, but "
                         "found none")
      .at(parent)
      .hint("--keep-best saves the step of the lowest one");
}

Expected<bool> weft::isStepDirectory(const std::string &folder) {
  std::string path = folder + "/" + manifestName;
  struct stat info;
  if (::stat(path.c_str(), &info) == 0)
    return true;
  Error error =
      systemError(ExitCode::Checkpoint, "cannot read", errno).at(path);
  if (error.ofCheckpoint().code() == ExitCode::Storage)
    return error;
  return false;
}

std::optional<std::string> weft::saveDirectoryOf(std::string stepDirectory) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path real = fs::canonical(stepDirectory, error).parent_path();
  if (error)
    return std::nullopt;
  while (stepDirectory.size() > 1 && stepDirectory.back() == '/')
    stepDirectory.pop_back();
  std::string spelt = parentOf(stepDirectory);
  return fs::equivalent(spelt, real, error) ? spelt : real.string();
}

Expected<HeldStep> weft::holdStep(const std::string &folder) {
  auto best = findBestStep(folder);
  if (!best)
    return best.takeError();
  if (*best)
    return HeldStep{**best, StepGuard::ofReader(**best)};
  auto isStep = isStepDirectory(folder);
  if (!isStep)
    return isStep.takeError();
  if (*isStep)
    return HeldStep{folder, StepGuard::ofReader(folder)};
  struct stat info;
  if (::stat(folder.c_str(), &info) != 0 && errno == ENOENT)
    return checkpointError("expects a step directory or a save directory, but "
                           "found none")
        .at(folder);
  for (int i = 0; i < manyTries; ++i) {
    auto steps = findSteps(folder);
    if (!steps)
      return steps.takeError();
    if (steps->empty())
      return noStepIn(folder);
    for (auto entry = steps->rbegin(); entry != steps->rend(); ++entry)
      if (StepGuard guard = StepGuard::ofReader(entry->path); guard.isThere())
        return HeldStep{entry->path, std::move(guard)};
    waitForRetirement();
  }
  return someLocked(folder);
}

static Status removeTree(const std::string &path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error)
    return systemError(ExitCode::Storage, "cannot remove", error.value())
        .at(path);
  return Status::success();
}

/// A step that someone reads stays, and so does one that is gone already.
static Status retireStep(const StepEntry &entry, const std::string &parent) {
  StepGuard guard = StepGuard::ofWriter(entry.path);
  if (!guard.isAlone())
    return Status::success();
  std::string retired = parent + "/.tmp-retired-" +
                        stepDirectoryName(entry.step) + "-" +
                        std::to_string(::getpid());
  // A left-over of an earlier process with our number may have the name.
  int failed = renameToNew(entry.path, retired);
  while (failed == EEXIST)
    failed = renameToNew(entry.path, retired += "-");
  if (failed == ENOENT)
    return Status::success();
  if (failed)
    return systemError(ExitCode::Storage, "cannot retire", failed)
        .at(entry.path);
  return removeTree(retired);
}

Status weft::retireSteps(const std::string &saveDirectory, int64_t keep,
                         bool keepBest) {
  if (keep <= 0 && !keepBest)
    return Status::success();
  auto steps = listSteps(saveDirectory);
  if (!steps)
    return steps.takeError();
  const StepEntry *best = keepBest ? findBest(*steps) : nullptr;
  int64_t usable = 0;
  for (auto entry = steps->rbegin(); entry != steps->rend(); ++entry) {
    if (entry->problem)
      continue;
    const bool isBeaten = keepBest && entry->onlyBest && usable > 0;
    const bool isOld = !isBeaten && ++usable > keep && keep > 0;
    if ((isBeaten || isOld) && &*entry != best)
      if (Status status = retireStep(*entry, saveDirectory); !status)
        return status;
  }
  return Status::success();
}

Expected<std::string> weft::setAside(const StepEntry &entry) {
  for (int64_t number = 1;; ++number) {
    std::string aside = entry.path + ".damaged";
    if (number > 1)
      aside += "." + std::to_string(number);
    int failed = renameToNew(entry.path, aside);
    if (failed == 0)
      return aside;
    if (failed != EEXIST)
      return systemError(ExitCode::Storage,
                         "cannot move a damaged checkpoint aside", failed)
          .at(entry.path);
  }
}

Status weft::cleanTemporaries(const std::string &saveDirectory) {
  auto names = listNames(saveDirectory);
  if (!names)
    return names.takeError();
  for (const std::string &name : *names) {
    bool ours = name.compare(0, 10, ".tmp-step_") == 0 ||
                name.compare(0, 13, ".tmp-retired-") == 0;
    if (!ours)
      continue;
    if (Status status = removeTree(saveDirectory + "/" + name); !status)
      return status;
  }
  return Status::success();
}
