//===- CheckpointLoad.cpp - Choosing and loading a checkpoint -------------===//

#include "weft/Formats/Json.h"
#include "weft/Formats/Text.h"
#include "weft/Runtime/Checkpoint.h"
#include "weft/Runtime/CheckpointReader.h"
#include "weft/Runtime/DTypes.h"

#include <cerrno>
#include <cstdio>
#include <map>
#include <sys/stat.h>

using namespace weft;

static Error mismatch(const std::string &directory, const std::string &text) {
  return checkpointError(text).at(directory).hint(
      "the checkpoint is of another program; take its weights with `weft ckpt "
      "export` and --init-from");
}

static Status checkTensor(const WeftTensor &tensor, const Manifest &manifest,
                          const std::string &directory) {
  const ManifestTensor *saved = manifest.findTensor(tensor.name);
  if (!saved)
    return mismatch(directory, "expects tensor " + inQuotes(tensor.name) +
                                   ", but the checkpoint has none");
  if (saved->type != tensorTypeOf(tensor.dtype))
    return mismatch(directory, "tensor " + inQuotes(tensor.name) +
                                   " expects type " + dtypeName(tensor.dtype) +
                                   ", but got " + tensorTypeName(saved->type));
  if (saved->shape != shapeOf(tensor))
    return mismatch(directory, "tensor " + inQuotes(tensor.name) +
                                   " expects shape " +
                                   shapeText(shapeOf(tensor)) + ", but got " +
                                   shapeText(saved->shape));
  return Status::success();
}

/// The checkpoint belongs to this model and holds exactly its state.
static Status checkFits(const Manifest &manifest, const std::string &directory,
                        const Metadata &metadata,
                        const WeftExecutable &executable) {
  if (manifest.fingerprint != metadata.fingerprint)
    return mismatch(directory, "expects a checkpoint of model " +
                                   metadata.fingerprint + ", but got one of " +
                                   manifest.fingerprint);
  size_t count = 0;
  for (int32_t i = 0; i < executable.numTensors; ++i) {
    const WeftTensor &tensor = executable.tensors[i];
    if (!isSaved(tensor))
      continue;
    ++count;
    if (Status s = checkTensor(tensor, manifest, directory); !s)
      return s;
  }
  if (count == manifest.tensors.size())
    return Status::success();
  std::map<std::string, int> known;
  for (int32_t i = 0; i < executable.numTensors; ++i)
    known[executable.tensors[i].name] = 1;
  for (const ManifestTensor &tensor : manifest.tensors)
    if (!known.count(tensor.name))
      return mismatch(directory, "the program has no tensor " +
                                     inQuotes(tensor.name) +
                                     " of the checkpoint");
  return Status::success();
}

/// Two optimizers may keep the same tensors (adam and adamw).
static Status checkOptimizers(const std::string &directory,
                              const Metadata &metadata) {
  auto model = readJsonFile(directory + "/" + modelFileName);
  if (!model)
    return model.takeError().withCode(ExitCode::Checkpoint);
  Json expected = Json::arrayOf(metadata.optimizers);
  const Json *saved = model->find("optimizers");
  if (!saved || *saved == expected)
    return Status::success();
  return mismatch(directory, "expects a checkpoint of optimizers " +
                                 expected.compact() + ", but got one of " +
                                 saved->compact());
}

/// Reads one step directory; `verified`: its files were checked already.
static Expected<ResumePoint> openStep(const std::string &directory,
                                      const Metadata &metadata,
                                      const WeftExecutable &executable,
                                      bool verified) {
  auto manifest = Manifest::read(directory);
  if (!manifest)
    return manifest.takeError();
  if (Status s = checkFits(*manifest, directory, metadata, executable); !s)
    return s.takeError();
  if (!verified)
    if (Status s = manifest->verifyFiles(directory); !s)
      return s.takeError();
  if (Status s = checkOptimizers(directory, metadata); !s)
    return s.takeError();
  return ResumePoint{directory, std::move(*manifest)};
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
newestUndamaged(const std::vector<StepEntry> &steps, const Metadata &metadata,
                const WeftExecutable &executable,
                std::vector<std::string> &warnings) {
  for (auto entry = steps.rbegin(); entry != steps.rend(); ++entry) {
    std::string damage = damageOf(*entry);
    if (!damage.empty()) {
      warnings.push_back("passing over a damaged checkpoint: " + damage);
      continue;
    }
    auto point = openStep(entry->path, metadata, executable, /*verified=*/true);
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
openPath(const std::string &path, const Metadata &metadata,
         const WeftExecutable &executable) {
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
  auto point = openStep(directory, metadata, executable, /*verified=*/false);
  if (!point)
    return point.takeError();
  return std::optional<ResumePoint>(std::move(*point));
}

Expected<std::optional<ResumePoint>>
weft::chooseCheckpoint(const RunOptions &options, const Metadata &metadata,
                       const WeftExecutable &executable,
                       std::vector<std::string> &warnings) {
  if (options.resume == ResumeKind::Path)
    return openPath(options.resumePath, metadata, executable);
  if (options.resume == ResumeKind::Must)
    return openPath(options.saveDir, metadata, executable);
  if (options.saveDir.empty())
    return std::optional<ResumePoint>();
  auto steps = listSteps(options.saveDir);
  if (!steps)
    return steps.takeError().withCode(ExitCode::Storage);
  if (steps->empty())
    return std::optional<ResumePoint>();
  if (options.resume == ResumeKind::Auto)
    return newestUndamaged(*steps, metadata, executable, warnings);
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
    if (!isSaved(tensor))
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
