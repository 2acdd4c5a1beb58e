//===- Checkpoint.h - Saving and loading the state of a run -----*- C++ -*-===//
//
// A step directory holds one safetensors file per rank, `model.json` (the
// model's description for `weft ckpt export`) and MANIFEST.json with the
// digests of every file. Bytes are verified while they are loaded, before a run
// writes anything.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_CHECKPOINT_H
#define WEFT_RUNTIME_CHECKPOINTS_CHECKPOINT_H

#include "weft/Formats/Json.h"
#include "weft/Formats/Manifest.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Runtime/Checkpoints/ResumeOptions.h"
#include "weft/Runtime/Checkpoints/ResumedOptimizer.h"
#include "weft/Runtime/Collectives/Consensus.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/Fault.h"
#include "weft/Runtime/Execute/Metadata.h"
#include "weft/Runtime/Execute/StateSegments.h"

#include <optional>

namespace weft {

/// The state of training besides the tensors.
struct TrainState {
  int64_t step = 0; // optimizer steps done
  int64_t seed = 0;
  DataCursor cursor;
  std::optional<double> valLoss; // of an evaluation after this very step
  bool onlyBest = false;         // a save of it is for its valLoss alone
};

/// A checkpoint that fits the program. Its tensors are verified when they are
/// read.
struct ResumePoint {
  std::string directory;
  Manifest manifest;
  StepGuard guard;          // until its tensors are loaded
  bool weightsOnly = false; // for runs that do not train
  ResumedOptimizer optimizer;
};

/// The program that loads a checkpoint.
struct ResumeTarget {
  const Metadata &metadata;
  const WeftExecutable &executable;
  bool weightsOnly;
};

/// Checks that the manifest is of this model and lists every tensor that the
/// program loads, with the same type and shape. To train, the optimizers must
/// match the program, and no other tensor may be listed. The states of a loss
/// scale are not checked. Returns the optimizer state to resume.
Expected<ResumedOptimizer> checkTensors(const Manifest &manifest,
                                        const std::string &directory,
                                        const ResumeTarget &target);
/// The error of a checkpoint of another model: names the first difference.
Error otherModel(const Manifest &manifest, const std::string &directory,
                 const Metadata &metadata, const WeftExecutable &executable);
/// Reads `model.json` of a step directory.
Expected<Json> readModelFile(const Manifest &manifest,
                             const std::string &directory);
/// Checks that a step directory has the program's kind of loss scale.
Status checkLossScale(const Manifest &manifest, const std::string &directory,
                      const ResumeTarget &target);

/// The step directory that `options` resume from; nothing to start from the
/// beginning. Warnings about skipped damaged checkpoints go to `warnings`.
Expected<std::optional<ResumePoint>>
chooseCheckpoint(const ResumeOptions &options, const ResumeTarget &target,
                 std::vector<std::string> &warnings);

/// The replacement of `point`, whose tensors turned out damaged: an older
/// checkpoint if `options` skip damaged ones (--resume=auto), else `damage`.
Expected<ResumePoint> passOver(const ResumePoint &point, Error damage,
                               const ResumeOptions &options,
                               const ResumeTarget &target,
                               std::vector<std::string> &warnings);

/// Renames damaged step directories that are newer than `step`, for a run that
/// resumes from `step`. A newer usable directory is an error, since the run
/// would write it again. A directory that cannot be read is an error, too.
Status freeSpaceAfter(const std::string &saveDir, int64_t step);

/// Reads the tensors of a chosen checkpoint into the arena, verifies them while
/// it reads, and releases the guard. Bytes that were read before damage is
/// found stay in the arena.
Status loadCheckpoint(WeftContext &context, ResumePoint &point);

/// The state that the manifest describes.
TrainState stateOf(const Manifest &manifest);

/// Whether checkpoints hold the tensor. Tensors that each step writes anew and
/// working copies of parameters are not saved.
inline bool isSaved(const WeftTensor &tensor) {
  return !isMadeByStep(tensor.kind) && tensor.kind != WEFT_WORKING;
}

/// The tensors of a checkpoint under their own names, in the order of the
/// table.
std::vector<NamedTensor> savedTensors(const WeftExecutable &executable);
/// Zeroes the gaps between the segments of saved tensors.
Status clearGaps(WeftContext &context);

/// Bytes of the tensors of one checkpoint, of all ranks.
int64_t checkpointBytes(const WeftExecutable &executable);

/// A storage error if a checkpoint of `bytes` exceeds the free bytes of the
/// disk, the second argument.
Status checkFreeSpace(int64_t bytes, uint64_t room, const std::string &saveDir);

struct SavePolicy {
  std::string saveDir;
  int64_t keep = 0; // 0: all
  bool keepBest = false;
  SaveLock *lock = nullptr; // of saveDir; outlives the writer
};

/// Checks, before anything is written, that a step can be written into the
/// directory and that the disk has space for a checkpoint. Called once per
/// process.
Status prepareSaves(const SavePolicy &policy, const WeftExecutable &executable,
                    int64_t nextStep);

/// The part of one rank in the checkpoints of a run. A save has phases, and all
/// ranks vote after each one: they compare replicas, rank 0 creates a
/// directory, each rank writes its share into its own file, rank 0 commits.
class CheckpointWriter {
public:
  CheckpointWriter(const WeftContext &context, const Metadata &metadata,
                   RunRecord record, SavePolicy policy, const Faults &faults,
                   Consensus &consensus)
      : context(context), metadata(metadata), record(std::move(record)),
        policy(std::move(policy)), faults(faults), consensus(consensus) {}

  /// The lowest validation loss of the saved steps.
  Expected<std::optional<double>> bestLoss() const;
  /// Saves and commits; returns the step directory. All ranks call it and get
  /// the same result. On an error, nothing of this save remains and older
  /// checkpoints are untouched. Old ones that cannot be removed are a warning.
  Expected<std::string> save(const TrainState &state);

private:
  using Texts = std::vector<std::string>;
  /// A save in progress, with its directory on rank 0.
  struct Saving {
    const TrainState &state;
    std::optional<StepWriter> step;
  };

  bool isFirst() const { return consensus.rank() == 0; }
  Expected<Texts> meet(Place::Kind kind, const Saving &saving,
                       Expected<std::string> own);
  Expected<std::string> begin(Saving &saving);
  Expected<std::string> write(const std::string &directory) const;
  Expected<std::string> commit(Saving &saving, const Texts &written);
  Expected<std::string> saveInPhases(Saving &saving);
  Status listFiles(const std::string &directory, const Texts &written,
                   Manifest &manifest) const;
  Expected<bool> keepLock();
  Expected<StepWriter> beginStep(int64_t number);

  const WeftContext &context;
  const Metadata &metadata;
  RunRecord record;
  const SavePolicy policy;
  const Faults &faults;
  Consensus &consensus;
  int64_t saves = 0;
};

/// Name of the file in a step directory that describes the model.
extern const char *const modelFileName; // "model.json"

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_CHECKPOINT_H
