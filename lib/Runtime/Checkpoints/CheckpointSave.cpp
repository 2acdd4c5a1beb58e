//===- CheckpointSave.cpp - Saving the state of a run ---------------------===//

#include "weft/Base/Durable.h"
#include "weft/Formats/Json.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Checkpoints/CheckpointShares.h"
#include "weft/Runtime/Devices/Ports.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Execute/Metadata.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <sstream>
#include <sys/stat.h>
#include <sys/statvfs.h>

using namespace weft;

/// Retries of a save whose directory is moved while it begins.
static constexpr int manyMoves = 10;

const char *const weft::modelFileName = "model.json";

/// "rank_00000.safetensors".
static std::string rankFileName(int64_t rank) {
  char name[40];
  std::snprintf(name, sizeof name, "rank_%05" PRId64 ".safetensors", rank);
  return name;
}

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

static Json describeCompanions(const Metadata &metadata) {
  Json list = Json::array();
  for (const InitialFile &file : metadata.companionFiles) {
    Json &entry = list.push(Json::object());
    entry.set("path", file.path);
    entry.set("xxh3", file.digest);
  }
  return list;
}

/// The text of model.json: the original config and the names in the weight file
/// for export, and properties that the tensors do not show.
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
  if (!metadata.counters.empty())
    model.set("counters", describeCounters(metadata));
  model.set("loss_scale", policyName(LossScaler::of(executable).policy));
  model.set("sources", std::move(sources));
  if (!metadata.companionFiles.empty())
    model.set("companions", describeCompanions(metadata));
  return model.pretty();
}

Status weft::checkFreeSpace(int64_t bytes, uint64_t freeBytes,
                            const std::string &saveDir) {
  if (freeBytes >= uint64_t(bytes))
    return Status::success();
  return storageError("expects space for a checkpoint of ", humanBytes(bytes),
                      ", but the disk has ", humanBytes(int64_t(freeBytes)))
      .at(saveDir)
      .hint("free some space, or choose another --save-dir");
}

/// Removes old steps. A failure is only a warning, since the committed step is
/// safe.
static void retire(const SavePolicy &policy) {
  if (Status s = retireSteps(policy.saveDir, policy.keep, policy.keepBest); !s)
    warn(s.error().where());
}

Status weft::prepareSaves(const SavePolicy &policy,
                          const WeftExecutable &executable, int64_t nextStep) {
  // A step that is begun and dropped leaves no files.
  auto trial = StepWriter::begin(policy.saveDir, nextStep);
  if (!trial)
    return trial.takeError();
  // A run that was killed between a save and this may have left more.
  retire(policy);
  struct statvfs disk;
  if (statvfs(policy.saveDir.c_str(), &disk) != 0)
    return systemError(ExitCode::Storage, "cannot ask for free space", errno)
        .at(policy.saveDir);
  return checkFreeSpace(checkpointBytes(executable),
                        uint64_t(disk.f_bavail) * disk.f_frsize,
                        policy.saveDir);
}

Expected<std::optional<double>> CheckpointWriter::bestLoss() const {
  auto steps = listSteps(policy.saveDir);
  if (!steps)
    return steps.takeError();
  const StepEntry *best = findBest(*steps);
  return best ? best->valLoss : std::optional<double>();
}

//===----------------------------------------------------------------------===//
// Writing the share of a rank
//===----------------------------------------------------------------------===//

/// A tensor of a rank's file: one piece of `tensor`.
static TensorSpec specOf(const NamedTensor &tensor, const WrittenPiece &piece) {
  const int64_t elements = piece.end - piece.begin;
  const bool isWhole = elements == tensor.elements;
  return {pieceKey(tensor.name, piece.begin, piece.end, tensor.elements),
          tensorTypeOf(tensor.dtype()),
          isWhole ? tensor.shape : std::vector<int64_t>{elements}};
}

/// The tensors of a checkpoint, with the files that hold their pieces.
static std::vector<ManifestTensor>
describe(const std::vector<NamedTensor> &saved, int64_t ranks) {
  std::vector<ManifestTensor> tensors;
  const auto shares = shareWrites(saved, ranks);
  for (size_t i = 0; i < saved.size(); ++i) {
    ManifestTensor &entry = tensors.emplace_back();
    entry.name = saved[i].name;
    entry.kind = kindName(saved[i].kind());
    entry.type = tensorTypeOf(saved[i].dtype());
    entry.shape = saved[i].shape;
    for (const WrittenPiece &piece : shares[i])
      entry.pieces.push_back({rankFileName(piece.rank),
                              specOf(saved[i], piece).name, piece.begin,
                              piece.end});
  }
  return tensors;
}

/// "BYTES BLOCK BLOCK...", sent to the rank that writes the manifest.
static std::string digestText(const FileDigest &digest) {
  std::string text = std::to_string(digest.bytes);
  for (const std::string &block : digest.blocks)
    text += " " + block;
  return text;
}

static FileDigest readDigest(const std::string &text) {
  std::istringstream in(text);
  FileDigest digest;
  in >> digest.bytes;
  for (std::string block; in >> block;)
    digest.blocks.push_back(block);
  digest.xxh3 = digestOfBlocks(digest.blocks);
  return digest;
}

/// Called on each rank. Writes its file into the directory that rank 0 has
/// created; the file is on disk when this returns.
Expected<std::string>
CheckpointWriter::write(const std::string &directory) const {
  std::vector<std::pair<HeldRange, int32_t>> pieces;
  std::vector<TensorSpec> specs;
  const auto saved = savedTensors(*context.executable());
  const auto shares = shareWrites(saved, consensus.ranks());
  for (size_t i = 0; i < saved.size(); ++i)
    for (const WrittenPiece &piece : shares[i])
      if (piece.rank == context.rank()) {
        pieces.push_back(
            {placeOf(saved[i], piece), dtypeBytes(saved[i].dtype())});
        specs.push_back(specOf(saved[i], piece));
      }
  faults.sleepIf(Fault::Kind::SlowSave, saves, context.rank());
  const std::string path = directory + "/" + rankFileName(context.rank());
  auto file = SafetensorsWriter::create(path, specs);
  if (!file)
    return file.takeError();
  for (const auto &[held, size] : pieces)
    if (Status s = readArena(context, held.offset, held.elements() * size,
                             [&](const char *data, int64_t part) {
                               return file->write(data, part);
                             });
        !s)
      return s.takeError();
  if (Status s = file->finish(); !s)
    return s.takeError();
  if (Status s = syncPath(path); !s)
    return s.takeError();
  return digestText(file->digest());
}

//===----------------------------------------------------------------------===//
// Work of rank 0
//===----------------------------------------------------------------------===//

/// Renews the lock. True if the directory had to be created again.
Expected<bool> CheckpointWriter::keepLock() {
  if (!policy.lock)
    return false;
  auto isNew = policy.lock->renew();
  if (isNew && *isNew)
    warn(policy.saveDir + ": the directory was moved or removed; saves go into "
                          "a new one");
  return isNew;
}

/// Creates a directory for the step in the locked save directory. The save
/// directory may be moved after its lock is checked. Then the new directory is
/// in the moved one, or in a new one that is not locked, and the step is begun
/// again.
Expected<StepWriter> CheckpointWriter::beginStep(int64_t number) {
  if (auto isNew = keepLock(); !isNew)
    return isNew.takeError();
  for (int tries = 1;; ++tries) {
    auto step = StepWriter::begin(policy.saveDir, number);
    auto isNew = keepLock();
    if (step && !isNew)
      return isNew.takeError();
    if (!isNew || !*isNew || tries == manyMoves)
      return step;
  }
}

/// Creates the directory for the files; "" except on rank 0.
Expected<std::string> CheckpointWriter::begin(Saving &saving) {
  if (!isFirst())
    return std::string();
  auto step = beginStep(saving.state.step);
  if (!step)
    return step.takeError();
  saving.step.emplace(std::move(*step));
  return saving.step->directory();
}

/// Lists the files of all ranks in the manifest. The files of other ranks must
/// exist here: the directory may be on a disk that only their machine sees.
Status CheckpointWriter::listFiles(const std::string &directory,
                                   const Texts &written,
                                   Manifest &manifest) const {
  for (size_t rank = 0; rank < written.size(); ++rank) {
    const std::string name = rankFileName(int64_t(rank));
    const std::string path = directory + "/" + name;
    manifest.files.push_back({name, readDigest(written[rank])});
    struct stat info;
    if (rank > 0 && (::lstat(path.c_str(), &info) != 0 ||
                     info.st_size != manifest.files.back().digest.bytes))
      return storageError("expects the file that rank ", rank, " has written")
          .at(path)
          .hint("all ranks save into one directory: choose a --save-dir that "
                "they share");
  }
  return Status::success();
}

Expected<std::string> CheckpointWriter::commit(Saving &saving,
                                               const Texts &written) {
  if (!isFirst())
    return std::string();
  const TrainState &state = saving.state;
  const std::string directory = saving.step->directory();
  Manifest manifest;
  manifest.fingerprint = metadata.fingerprint;
  manifest.fingerprint1 = metadata.fingerprint1;
  manifest.step = state.step;
  manifest.seed = state.seed;
  manifest.cursor = state.cursor;
  manifest.run = record;
  manifest.valLoss = state.valLoss;
  manifest.onlyBest = state.onlyBest;
  manifest.worldSize = consensus.ranks();
  manifest.tensors =
      describe(savedTensors(*context.executable()), consensus.ranks());
  if (Status s = listFiles(directory, written, manifest); !s)
    return s.takeError();
  std::string model = modelText(*context.executable(), metadata);
  if (Status s = writeFile(directory + "/" + modelFileName, model); !s)
    return s.takeError();
  manifest.files.push_back({modelFileName, digestBytes(model)});
  faults.crashIf(Fault::Kind::CrashInSave, saves);
  return saving.step->commit(manifest);
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

/// Votes after a phase; the next one begins when all ranks are done. Returns
/// the texts of all ranks, or the error that all end the save with.
Expected<CheckpointWriter::Texts>
CheckpointWriter::meet(Place::Kind kind, const Saving &saving,
                       Expected<std::string> own) {
  Status status = own ? Status::success() : Status(own.takeError());
  Vote vote = voteAt({kind, saving.state.step}, status, status ? *own : "");
  vote.doneStep = saving.state.step;
  Decision all = consensus.reach(vote);
  if (all.failed())
    return errorOf(all, consensus, std::move(status));
  return std::move(all.texts);
}

Expected<std::string> CheckpointWriter::saveInPhases(Saving &saving) {
  auto begun = meet(Place::SaveBegun, saving, begin(saving));
  if (!begun)
    return begun.takeError();
  auto written = meet(Place::SaveWritten, saving, write(begun->front()));
  if (!written)
    return written.takeError();
  auto committed = meet(Place::SaveCommitted, saving, commit(saving, *written));
  if (!committed)
    return committed.takeError();
  return committed->front();
}

Expected<std::string> CheckpointWriter::save(const TrainState &state) {
  ++saves;
  const auto heartbeats = consensus.sendHeartbeats();
  std::optional<FileSizeLimit> full;
  if (faults.find(Fault::Kind::FullDisk, saves))
    full.emplace(checkpointBytes(*context.executable()) / consensus.ranks() /
                 2);
  if (consensus.ranks() > 1)
    if (Status s = compareReplicas(context, consensus, state.step); !s)
      return s.takeError();
  Saving saving{state, std::nullopt};
  auto directory = saveInPhases(saving);
  if (directory && isFirst())
    retire(policy);
  return directory;
}
