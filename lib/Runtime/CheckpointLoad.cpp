//===- CheckpointLoad.cpp - Choosing and loading a checkpoint -------------===//

#include "weft/Runtime/Checkpoint.h"
#include "weft/Runtime/CheckpointReader.h"

#include <cerrno>
#include <cstdio>
#include <sys/stat.h>

using namespace weft;

/// Reads one step directory; `verified`: its files were checked already.
static Expected<ResumePoint> openStep(const std::string &directory,
                                      const ResumeTarget &target,
                                      bool verified) {
  auto manifest = Manifest::read(directory);
  if (!manifest)
    return manifest.takeError();
  if (Status s = checkTensors(*manifest, directory, target); !s)
    return s.takeError();
  if (!verified)
    if (Status s = manifest->verifyFiles(directory); !s)
      return s.takeError();
  if (!target.weightsOnly)
    if (Status s = checkModelFile(*manifest, directory, target); !s)
      return s.takeError();
  return ResumePoint{directory, std::move(*manifest), target.weightsOnly};
}

/// Why a listed step cannot be used; an empty text if it can.
static std::string damageOf(const StepEntry &entry) {
  if (!entry.problem.empty())
    return entry.problem;
  auto manifest = Manifest::read(entry.path);
  if (!manifest)
    return manifest.error().where();
  Status files = manifest->verifyFiles(entry.path);
  return files ? "" : files.error().where();
}

/// The newest undamaged step; damaged ones are passed over with a warning.
static Expected<std::optional<ResumePoint>>
newestUndamaged(const std::vector<StepEntry> &steps, const ResumeTarget &target,
                std::vector<std::string> &warnings) {
  for (auto entry = steps.rbegin(); entry != steps.rend(); ++entry) {
    std::string damage = damageOf(*entry);
    if (!damage.empty()) {
      warnings.push_back("passing over a damaged checkpoint: " + damage);
      continue;
    }
    auto point = openStep(entry->path, target, /*verified=*/true);
    if (!point)
      return point.takeError();
    return std::optional<ResumePoint>(std::move(*point));
  }
  return checkpointError("expects a usable checkpoint, but all " +
                         std::to_string(steps.size()) +
                         " are damaged: " + damageOf(steps.back()))
      .hint("start again in another --save-dir");
}

/// PATH is a step directory, or a save directory that stands for its newest.
static Expected<std::optional<ResumePoint>>
openPath(const std::string &path, const ResumeTarget &target) {
  std::string directory = path;
  struct stat info;
  if (stat((path + "/" + manifestName).c_str(), &info) != 0) {
    auto steps = listSteps(path);
    if (!steps)
      return steps.takeError();
    if (steps->empty())
      return checkpointError("expects a checkpoint, but found none").at(path);
    directory = steps->back().path;
  }
  auto point = openStep(directory, target, /*verified=*/false);
  if (!point)
    return point.takeError();
  return std::optional<ResumePoint>(std::move(*point));
}

Expected<std::optional<ResumePoint>>
weft::chooseCheckpoint(const RunOptions &options, const Metadata &metadata,
                       const WeftExecutable &executable,
                       std::vector<std::string> &warnings) {
  ResumeTarget target = {metadata, executable, !options.trains()};
  if (options.resume == ResumeKind::Path)
    return openPath(options.resumePath, target);
  if (options.resume == ResumeKind::Must)
    return openPath(options.saveDir, target);
  if (options.saveDir.empty())
    return std::optional<ResumePoint>();
  auto steps = listSteps(options.saveDir);
  if (!steps)
    return steps.takeError().withCode(ExitCode::Storage);
  if (steps->empty())
    return std::optional<ResumePoint>();
  if (options.resume == ResumeKind::Auto)
    return newestUndamaged(*steps, target, warnings);
  if (!options.trains())
    return std::optional<ResumePoint>();
  return checkpointError("expects an empty save directory, but it has " +
                         std::to_string(steps->size()) + " checkpoint" +
                         (steps->size() == 1 ? "" : "s") +
                         ", the newest of "
                         "step " +
                         std::to_string(steps->back().step))
      .at(options.saveDir)
      .hint("continue with --resume=auto, or choose another --save-dir");
}

Status weft::makeRoomAfter(const std::string &saveDir, int64_t step) {
  auto steps = listSteps(saveDir);
  if (!steps)
    return steps.takeError();
  for (const StepEntry &entry : *steps) {
    if (entry.step <= step)
      continue;
    if (damageOf(entry).empty())
      return checkpointError("expects no checkpoint after step " +
                             std::to_string(step) +
                             ", from which this run continues")
          .at(entry.path)
          .hint(
              "choose another --save-dir, or move the later checkpoints away");
    std::string aside = entry.path + ".damaged";
    if (std::rename(entry.path.c_str(), aside.c_str()) != 0)
      return storageError("cannot move a damaged checkpoint aside: " +
                          errnoText(errno))
          .at(entry.path);
  }
  return Status::success();
}

Status weft::loadCheckpoint(WeftContext &context, const ResumePoint &point) {
  CheckpointReader reader(point.directory, point.manifest);
  const WeftExecutable &executable = *context.executable();
  for (int32_t i = 0; i < executable.numTensors; ++i) {
    const WeftTensor &tensor = executable.tensors[i];
    if (!isSaved(tensor) || (point.weightsOnly && tensor.kind != WEFT_PARAM))
      continue;
    char *out = static_cast<char *>(context.data(tensor));
    if (Status s = reader.read(*point.manifest.findTensor(tensor.name), out);
        !s)
      return s;
  }
  return Status::success();
}

TrainState weft::stateOf(const Manifest &manifest) {
  return {manifest.step, manifest.seed, manifest.cursor};
}
