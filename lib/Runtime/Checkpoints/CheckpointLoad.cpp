//===- CheckpointLoad.cpp - Choosing and loading a checkpoint -------------===//

#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <filesystem>

using namespace weft;

/// Reads and checks the manifest and model.json of a step directory, but no
/// tensors.
static Expected<ResumePoint> openStep(HeldStep held,
                                      const ResumeTarget &target) {
  const std::string &directory = held.path;
  auto manifest = Manifest::read(directory);
  if (!manifest)
    return manifest.takeError();
  auto optimizer = checkTensors(*manifest, directory, target);
  if (!optimizer)
    return optimizer.takeError();
  if (!target.weightsOnly)
    if (Status s = checkLossScale(*manifest, directory, target); !s)
      return s.takeError();
  return ResumePoint{directory, std::move(*manifest), std::move(held.guard),
                     target.weightsOnly, std::move(*optimizer)};
}

/// Why a listed step cannot be used; `check` looks at the manifest's files.
template <typename Check>
static std::optional<Error> problemOf(const StepEntry &entry, Check check) {
  if (entry.problem)
    return entry.problem;
  auto manifest = Manifest::read(entry.path);
  if (!manifest)
    return manifest.takeError();
  if (Status files = check(*manifest); !files)
    return files.takeError();
  return std::nullopt;
}

/// The same, but only for the files that openStep() reads.
static std::optional<Error> smallProblemOf(const StepEntry &entry,
                                           const ResumeTarget &target) {
  return problemOf(entry, [&](const Manifest &manifest) -> Status {
    if (target.weightsOnly)
      return Status::success();
    Json model;
    return assign(readModelFile(manifest, entry.path), model);
  });
}

static std::string passedOver(const std::string &damage) {
  return "passing over a damaged checkpoint: " + damage;
}

namespace {
/// Damage that was found before the search for a usable step.
struct KnownDamage {
  int64_t from = INT64_MAX; // this step and later ones
  std::string newest;
};
} // namespace

/// The newest step before `known` without visible damage; its tensors are not
/// read. Damaged steps are skipped with a warning. An unreadable step ends the
/// search with its error, since it may be whole. Nothing if a step was retired
/// meanwhile: then a newer one exists.
static Expected<std::optional<ResumePoint>>
newestUndamaged(const std::vector<StepEntry> &steps, const KnownDamage &known,
                const ResumeTarget &target,
                std::vector<std::string> &warnings) {
  warnings.clear();
  std::string newest = known.newest;
  for (auto entry = steps.rbegin(); entry != steps.rend(); ++entry) {
    if (entry->step >= known.from)
      continue;
    StepGuard guard = StepGuard::ofReader(entry->path);
    if (!guard.isThere())
      return std::optional<ResumePoint>();
    auto problem = smallProblemOf(*entry, target);
    if (problem && !problem->isDamage())
      return std::move(*problem);
    if (problem) {
      if (newest.empty())
        newest = problem->where();
      warnings.push_back(passedOver(problem->where()));
      continue;
    }
    auto point = openStep({entry->path, std::move(guard)}, target);
    if (!point)
      return point.takeError();
    return std::optional<ResumePoint>(std::move(*point));
  }
  return checkpointError("expects a usable checkpoint, but all ", steps.size(),
                         " are damaged: ", newest)
      .hint("start again in another --save-dir");
}

/// The same for a directory into which another run may save: repeats the search
/// if a step was retired meanwhile.
static Expected<std::optional<ResumePoint>>
findUndamaged(const std::string &saveDir, const KnownDamage &known,
              const ResumeTarget &target, std::vector<std::string> &warnings) {
  for (;;) {
    auto steps = listSteps(saveDir);
    if (!steps)
      return steps.takeError();
    if (steps->empty())
      return std::optional<ResumePoint>();
    auto point = newestUndamaged(*steps, known, target, warnings);
    if (!point || *point)
      return point;
  }
}

/// Opens a step directory, or the newest step of a save directory.
static Expected<std::optional<ResumePoint>>
openPath(const std::string &path, const ResumeTarget &target) {
  auto held = holdStep(path);
  if (!held)
    return held.takeError();
  auto point = openStep(std::move(*held), target);
  if (!point)
    return point.takeError();
  return std::optional<ResumePoint>(std::move(*point));
}

/// A run that starts in a directory, or resumes from another one, must not mix
/// with, count or retire the checkpoints of another run.
static Status checkEmpty(const std::string &saveDir) {
  auto steps = findSteps(saveDir);
  if (!steps)
    return steps.takeError().withCode(ExitCode::Storage);
  if (steps->empty())
    return Status::success();
  return checkpointError("expects an empty save directory, but it has ",
                         steps->size(), " checkpoint",
                         steps->size() == 1 ? "" : "s", ", the newest of step ",
                         steps->back().step)
      .at(saveDir)
      .hint("continue with --resume=auto, or choose another --save-dir");
}

static bool isStepOf(const std::string &saveDir, const std::string &step) {
  std::error_code error;
  auto parent = saveDirectoryOf(step);
  return parent && std::filesystem::equivalent(*parent, saveDir, error);
}

/// The checkpoint at a path. A run that saves must use the save directory of
/// the checkpoint or an empty one.
static Expected<std::optional<ResumePoint>>
resumePath(const ResumeOptions &options, const ResumeTarget &target) {
  auto point = openPath(options.resumePath, target);
  if (!point || target.weightsOnly || options.saveDir.empty() ||
      isStepOf(options.saveDir, (*point)->directory))
    return point;
  if (Status empty = checkEmpty(options.saveDir); !empty)
    return empty.takeError();
  return point;
}

Expected<std::optional<ResumePoint>>
weft::chooseCheckpoint(const ResumeOptions &options, const ResumeTarget &target,
                       std::vector<std::string> &warnings) {
  if (options.resume == ResumeKind::Path)
    return resumePath(options, target);
  if (options.resume == ResumeKind::Must)
    return openPath(options.saveDir, target);
  if (options.saveDir.empty())
    return std::optional<ResumePoint>();
  if (options.resume == ResumeKind::Auto)
    return findUndamaged(options.saveDir, {}, target, warnings);
  if (target.weightsOnly)
    return std::optional<ResumePoint>();
  if (Status empty = checkEmpty(options.saveDir); !empty)
    return empty.takeError();
  return std::optional<ResumePoint>();
}

Expected<ResumePoint> weft::passOver(const ResumePoint &point, Error damage,
                                     const ResumeOptions &options,
                                     const ResumeTarget &target,
                                     std::vector<std::string> &warnings) {
  if (options.resume != ResumeKind::Auto || !damage.isDamage())
    return damage;
  auto older = findUndamaged(
      options.saveDir, {point.manifest.step, damage.where()}, target, warnings);
  warnings.insert(warnings.begin(), passedOver(damage.where()));
  if (!older)
    return older.takeError();
  if (!*older)
    return damage;
  return std::move(**older);
}

Status weft::freeSpaceAfter(const std::string &saveDir, int64_t step) {
  auto steps = listSteps(saveDir);
  if (!steps)
    return steps.takeError();
  for (const StepEntry &entry : *steps) {
    if (entry.step <= step)
      continue;
    auto problem = problemOf(entry, [&](const Manifest &manifest) {
      return manifest.verifyFiles(entry.path);
    });
    if (problem && !problem->isDamage())
      return std::move(*problem);
    if (!problem)
      return checkpointError("expects no checkpoint after step ", step,
                             ", from which this run continues")
          .at(entry.path)
          .hint(
              "choose another --save-dir, or move the later checkpoints away");
    auto aside = setAside(entry);
    if (!aside)
      return aside.takeError();
    warn("moved a damaged checkpoint to " + *aside);
  }
  return Status::success();
}

Status weft::clearGaps(WeftContext &context) {
  const WeftExecutable &executable = *context.executable();
  for (const WeftTensor &tensor : tensorsOf(executable))
    if (isSaved(tensor))
      for (auto [begin, end] : gapsOf(tensor, context.rank()))
        if (Status s = context.device().zero(begin, end - begin); !s)
          return s;
  return Status::success();
}

/// Optimizers count their updates from 0 and compute with the number of the
/// next update, so a counter must be less than INT64_MAX.
static Status checkCounter(const WeftContext &context,
                           const NamedTensor &tensor, const HeldRange &held) {
  int64_t value = 0;
  if (Status s = context.device().copyOut(&value, held.offset, sizeof value);
      !s)
    return s;
  if (value >= 0 && value != INT64_MAX)
    return Status::success();
  return checkpointError("expects state ", inQuotes(tensor.name),
                         " to count updates from 0 on, but got ", value)
      .ofWholeFile();
}

static bool isCounter(const NamedTensor &tensor) {
  return tensor.kind() == WEFT_OPTIMIZER && tensor.dtype() == WEFT_I64 &&
         tensor.elements == 1;
}

static Status checkCounters(const WeftContext &context,
                            const std::string &directory) {
  for (const NamedTensor &tensor : savedTensors(*context.executable())) {
    const HeldRange held = heldBy(tensor, context.rank());
    if (!isCounter(tensor) || held.elements() == 0)
      continue;
    if (Status s = checkCounter(context, tensor, held); !s)
      return s.takeError().at(directory);
  }
  return Status::success();
}

Status weft::loadCheckpoint(WeftContext &context, ResumePoint &point) {
  CheckpointReader reader(point.directory, point.manifest);
  std::vector<TensorTarget> targets;
  std::vector<std::pair<int64_t, int64_t>> fresh; // offset and bytes
  for (const NamedTensor &tensor : savedTensors(*context.executable())) {
    if (point.weightsOnly && tensor.kind() != WEFT_PARAM)
      continue;
    const HeldRange held = heldBy(tensor, context.rank());
    if (point.optimizer.isFresh(tensor.name)) {
      fresh.push_back(
          {held.offset, held.elements() * dtypeBytes(tensor.dtype())});
      continue;
    }
    const std::string &name = point.optimizer.savedName(tensor.name);
    targets.push_back({reader.manifest().findTensor(name), held.begin,
                       held.elements(), held.offset});
  }
  if (Status s = clearGaps(context); !s)
    return s;
  for (auto [offset, bytes] : fresh)
    if (Status s = context.device().zero(offset, bytes); !s)
      return s;
  if (Status s = reader.readAll(context, targets); !s)
    return s;
  if (!point.weightsOnly)
    if (Status s = checkCounters(context, point.directory); !s)
      return s;
  point.guard.release();
  return Status::success();
}

TrainState weft::stateOf(const Manifest &manifest) {
  return {manifest.step, manifest.seed, manifest.cursor, manifest.valLoss};
}
