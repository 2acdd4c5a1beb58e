//===- CheckpointSave.cpp - Saving the state of a run ---------------------===//

#include "weft/Formats/Json.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Devices/ArenaBytes.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Execute/Scaler.h"

#include <cerrno>
#include <sys/statvfs.h>

using namespace weft;

const char *const weft::modelFileName = "model.json";
static const char *const rankFile = "rank_00000.safetensors";

static const char *kindName(int32_t kind) {
  return kind == WEFT_PARAM       ? "param"
         : kind == WEFT_OPTIMIZER ? "optimizer"
                                  : "scaler";
}

std::vector<NamedTensor> weft::savedTensors(const WeftExecutable &executable) {
  std::vector<NamedTensor> saved;
  for (NamedTensor &tensor : namedTensors(executable))
    if (isSaved(*tensor.home))
      saved.push_back(std::move(tensor));
  return saved;
}

int64_t weft::checkpointBytes(const WeftExecutable &executable) {
  int64_t bytes = 0;
  for (const NamedTensor &tensor : savedTensors(executable))
    bytes += tensor.elements * dtypeBytes(tensor.dtype());
  return bytes;
}

/// What export needs, the original config and the names in the weight file, and
/// what the tensors do not tell.
static std::string modelText(const WeftExecutable &executable,
                             const Metadata &metadata) {
  Json sources = Json::object();
  for (const NamedTensor &weight : namedTensors(executable, WEFT_PARAM))
    if (!weight.source.empty())
      sources.set(weight.name, weight.source);
  Json model = Json::object();
  model.set("name", metadata.name);
  model.set("family", metadata.family);
  model.set("config", metadata.config);
  model.set("optimizers", Json::arrayOf(metadata.optimizers));
  model.set("loss_scale", policyName(LossScaler::of(executable).policy));
  model.set("sources", std::move(sources));
  return model.pretty();
}

Status weft::checkRoom(int64_t bytes, uint64_t room,
                       const std::string &saveDir) {
  if (room >= uint64_t(bytes))
    return Status::success();
  return storageError("expects room for a checkpoint of " + humanBytes(bytes) +
                      ", but the disk has " + humanBytes(int64_t(room)))
      .at(saveDir)
      .hint("free some space, or choose another --save-dir");
}

/// What was committed is safe: no reason to end a run.
void CheckpointWriter::retire() const {
  if (Status s = retireSteps(policy.saveDir, policy.keep, policy.keepBest); !s)
    warn(s.error().where());
}

/// A step is the files of all ranks, and the manifest lists them.
static Status checkAlone(const WeftContext &context) {
  if (context.ranks() == 1)
    return Status::success();
  return Error(ExitCode::Internal,
               "does not support saving from " +
                   std::to_string(context.ranks()) +
                   " ranks yet; train with one, or without --save-dir");
}

Status CheckpointWriter::prepare(int64_t nextStep) const {
  if (Status s = checkAlone(context); !s)
    return s;
  // A step that is begun and dropped leaves nothing.
  auto trial = StepWriter::begin(policy.saveDir, nextStep);
  if (!trial)
    return trial.takeError();
  // A run that was killed between a save and this may have left more.
  retire();
  struct statvfs disk;
  if (statvfs(policy.saveDir.c_str(), &disk) != 0)
    return systemError(ExitCode::Storage, "cannot ask for free space", errno)
        .at(policy.saveDir);
  return checkRoom(checkpointBytes(*context.executable()),
                   uint64_t(disk.f_bavail) * disk.f_frsize, policy.saveDir);
}

/// Describes what the rank holds of every saved tensor as one piece of its
/// file.
static std::vector<TensorSpec> describe(const std::vector<NamedTensor> &saved,
                                        int64_t rank, Manifest &manifest) {
  std::vector<TensorSpec> specs;
  for (const NamedTensor &tensor : saved) {
    const HeldRange held = heldBy(tensor, rank);
    if (held.elements() == 0)
      continue;
    const bool isWhole = held.elements() == tensor.elements;
    std::string key =
        pieceKey(tensor.name, held.begin, held.end, tensor.elements);
    ManifestTensor entry;
    entry.name = tensor.name;
    entry.kind = kindName(tensor.kind());
    entry.type = tensorTypeOf(tensor.dtype());
    entry.shape = tensor.shape;
    entry.pieces.push_back({rankFile, key, held.begin, held.end});
    specs.push_back(
        {key, entry.type,
         isWhole ? entry.shape : std::vector<int64_t>{held.elements()}});
    manifest.tensors.push_back(std::move(entry));
  }
  return specs;
}

Expected<FileDigest> CheckpointWriter::writeTensors(const std::string &path,
                                                    Manifest &manifest) const {
  const std::vector<NamedTensor> saved = savedTensors(*context.executable());
  auto writer = SafetensorsWriter::create(
      path, describe(saved, context.rank(), manifest));
  if (!writer)
    return writer.takeError();
  for (const NamedTensor &tensor : saved) {
    const HeldRange held = heldBy(tensor, context.rank());
    const int64_t bytes = held.elements() * dtypeBytes(tensor.dtype());
    if (Status s = readArena(context, held.offset, bytes,
                             [&](const char *data, int64_t part) {
                               return writer->write(data, part);
                             });
        !s)
      return s.takeError();
  }
  if (Status s = writer->finish(); !s)
    return s.takeError();
  return writer->digest();
}

Expected<std::string> CheckpointWriter::writeStep(const TrainState &state) {
  if (Status s = checkAlone(context); !s)
    return s.takeError();
  auto writer = StepWriter::begin(policy.saveDir, state.step);
  if (!writer)
    return writer.takeError();
  Manifest manifest;
  manifest.fingerprint = metadata.fingerprint;
  manifest.step = state.step;
  manifest.seed = state.seed;
  manifest.cursor = state.cursor;
  manifest.run = record;
  manifest.valLoss = state.valLoss;
  manifest.worldSize = context.ranks();
  auto digest = writeTensors(writer->directory() + "/" + rankFile, manifest);
  if (!digest)
    return digest.takeError();
  manifest.files.push_back({rankFile, std::move(*digest)});
  std::string model = modelText(*context.executable(), metadata);
  if (Status s = writeFile(writer->directory() + "/" + modelFileName, model);
      !s)
    return s.takeError();
  manifest.files.push_back({modelFileName, digestBytes(model)});
  faults.crashIf(Fault::Kind::CrashInSave, saves);
  return writer->commit(manifest);
}

Expected<std::optional<double>> CheckpointWriter::bestLoss() const {
  auto steps = listSteps(policy.saveDir);
  if (!steps)
    return steps.takeError();
  const StepEntry *best = findBest(*steps);
  return best ? best->valLoss : std::optional<double>();
}

Status CheckpointWriter::keepLock() {
  if (!policy.lock)
    return Status::success();
  auto isNew = policy.lock->renew();
  if (!isNew)
    return isNew.takeError();
  if (*isNew)
    warn(policy.saveDir + ": the directory was moved or removed; saves go into "
                          "a new one");
  return Status::success();
}

Expected<std::string> CheckpointWriter::save(const TrainState &state) {
  if (Status s = keepLock(); !s)
    return s.takeError();
  ++saves;
  std::optional<FileSizeLimit> full;
  if (faults.find(Fault::Kind::NoRoom, saves))
    full.emplace(checkpointBytes(*context.executable()) / 2);
  auto directory = writeStep(state);
  if (!directory)
    return directory;
  retire();
  return directory;
}
