//===- Checkpoint.h - Saving and loading the state of a run -----*- C++ -*-===//
//
// A step directory holds one safetensors file per rank, `model.json` (what
// `weft ckpt export` needs of the model) and MANIFEST.json with the digests of
// every file. Bytes are verified while they are loaded, before a run writes
// anything.
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

/// Where training stands, besides the tensors.
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
  bool weightsOnly = false; // what a run that only samples takes
  ResumedOptimizer optimizer;
};

/// The program that is to take something from a checkpoint.
struct ResumeTarget {
  const Metadata &metadata;
  const WeftExecutable &executable;
  bool weightsOnly;
};

/// The manifest is of this model and lists what the program takes from it, with
/// the same types and shapes; to train, the optimizers are those of the program
/// and it lists nothing else. Not the states of a loss scale. Gives what the
/// optimizer goes on from.
Expected<ResumedOptimizer> checkTensors(const Manifest &manifest,
                                        const std::string &directory,
                                        const ResumeTarget &target);
/// The error of a checkpoint of another model: names the first difference.
Error otherModel(const Manifest &manifest, const std::string &directory,
                 const Metadata &metadata, const WeftExecutable &executable);
/// What `model.json` of a step directory says.
Expected<Json> readModelFile(const Manifest &manifest,
                             const std::string &directory);
/// The loss scale of a step directory is that of the program.
Status checkLossScale(const Manifest &manifest, const std::string &directory,
                      const ResumeTarget &target);

/// The step directory that `options` ask to continue from; nothing to start
/// from the beginning. Warnings about damaged checkpoints that were passed over
/// go to `warnings`.
Expected<std::optional<ResumePoint>>
chooseCheckpoint(const ResumeOptions &options, const ResumeTarget &target,
                 std::vector<std::string> &warnings);

/// What is used in place of `point`, whose tensors turned out damaged: an older
/// checkpoint where `options` pass over damaged ones, else `damage`.
Expected<ResumePoint> passOver(const ResumePoint &point, Error damage,
                               const ResumeOptions &options,
                               const ResumeTarget &target,
                               std::vector<std::string> &warnings);

/// Moves damaged step directories that are newer than `step` out of the way of
/// a run that continues from it; a usable one is an error, since the run would
/// write it again, and so is one that cannot be read.
Status freeSpaceAfter(const std::string &saveDir, int64_t step);

/// Reads the tensors of a chosen checkpoint into the arena, verifies them on
/// the way, and lets it go. What was read before damage is found stays in the
/// arena.
Status loadCheckpoint(WeftContext &context, ResumePoint &point);

/// The state that the manifest describes.
TrainState stateOf(const Manifest &manifest);

/// Whether checkpoints hold the tensor: not what each step makes anew, nor what
/// follows from parameters.
inline bool isSaved(const WeftTensor &tensor) {
  return !isMadeByStep(tensor.kind) && tensor.kind != WEFT_WORKING;
}

/// The tensors of a checkpoint under their own names, in the order of the
/// table.
std::vector<NamedTensor> savedTensors(const WeftExecutable &executable);
/// Makes what lies between the segments of saved tensors zero.
Status clearGaps(WeftContext &context);

/// Bytes of the tensors of one checkpoint, of all ranks.
int64_t checkpointBytes(const WeftExecutable &executable);

/// A storage error if a checkpoint of `bytes` has no room.
Status checkFreeSpace(int64_t bytes, uint64_t room, const std::string &saveDir);

struct SavePolicy {
  std::string saveDir;
  int64_t keep = 0; // 0: all
  bool keepBest = false;
  SaveLock *lock = nullptr; // of saveDir; outlives the writer
};

/// Before anything is written: a step can be written into the directory, and a
/// checkpoint has room. Part of the process.
Status prepareSaves(const SavePolicy &policy, const WeftExecutable &executable,
                    int64_t nextStep);

/// The part that each rank has of the checkpoints of a run. A save has phases,
/// and all ranks agree after each that the next one may begin: what they hold
/// alike is compared, rank 0 makes a directory, each rank writes what it holds
/// into a file of its own, rank 0 commits.
class CheckpointWriter {
public:
  CheckpointWriter(const WeftContext &context, const Metadata &metadata,
                   RunRecord record, SavePolicy policy, const Faults &faults,
                   Consensus &consensus)
      : context(context), metadata(metadata), record(std::move(record)),
        policy(std::move(policy)), faults(faults), consensus(consensus) {}

  /// The lowest validation loss of the steps that are there.
  Expected<std::optional<double>> bestLoss() const;
  /// Saves and commits; returns the step directory. All ranks take part and get
  /// the same result. On an error nothing of this save stays and older
  /// checkpoints are untouched. Old ones that cannot be removed are a warning.
  Expected<std::string> save(const TrainState &state);

private:
  using Texts = std::vector<std::string>;
  /// A save under way: its directory, on rank 0.
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

/// Name of the file beside the tensors that describes the model.
extern const char *const modelFileName; // "model.json"

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_CHECKPOINT_H
