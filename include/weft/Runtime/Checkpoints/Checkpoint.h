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

#include "weft/Abi/Executable.h"
#include "weft/Formats/GgufBlocks.h"
#include "weft/Formats/Json.h"
#include "weft/Formats/Manifest.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Runtime/Collectives/Consensus.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/Fault.h"
#include "weft/Runtime/Execute/Metadata.h"
#include "weft/Runtime/Execute/StateSegments.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft {

/// The moments of a parameter are restored from the checkpoint. A program may
/// train a parameter that was frozen in the run that saved the checkpoint. The
/// checkpoint has no optimizer state for such a thawed parameter, so its state
/// starts at zeros.
///
/// A step counter continues the saved counter of the same parameters, whatever
/// its name. A counter of thawed parameters starts at 0. It must count no other
/// parameters, since Adam's bias correction depends on it.
struct ResumedOptimizer {
  std::vector<std::string> thawed; // parameters, in the order of the program
  std::set<std::string> fresh;     // states that start at zeros
  /// The saved counter that each counter of the program continues.
  std::map<std::string, std::string> counters;
  /// Counters of the checkpoint whose parameters are known.
  std::set<std::string> savedCounters;

  bool isFresh(const std::string &name) const { return fresh.count(name) > 0; }
  /// The name in the checkpoint of a state of the program.
  const std::string &savedName(const std::string &name) const;
  /// "the optimizer state of 'b' starts at 0: frozen in the checkpoint", or ""
  /// if there is none.
  std::string describe() const;
};

/// Matches the optimizer states of a program with a checkpoint whose
/// `model.json` is `model`. A checkpoint error at `directory` names parameters
/// whose steps cannot be counted together.
Expected<ResumedOptimizer> resumeOptimizer(const Manifest &manifest,
                                           const Json &model,
                                           const std::string &directory,
                                           const WeftExecutable &executable,
                                           const Metadata &metadata);

/// The step counters of a program for `model.json`, if there are several: for
/// each counter the parameters that it counts.
Json describeCounters(const Metadata &metadata);

//===- Loss scale ---------------------------------------------------------===//

// A checkpoint holds the states of the loss scale, and the name of its policy
// in its model.json.

/// The checkpoint in `directory`, whose model.json is `model`, was saved under
/// the program's policy.
Status checkScalePolicy(const Json &model, const std::string &directory,
                        const LossScaler &program);

/// Brings a loaded loss scale in line with the program's numbers: a fixed scale
/// is the program's, a dynamic one is not below its minimum, and the hysteresis
/// left is one that the program counts down from. What became of the scale, if
/// that is not what was loaded.
Expected<std::optional<std::string>> adaptLossScale(const WeftContext &context,
                                                    const LossScaler &program);

enum class ResumeKind { Auto, Never, Must, Path };

struct ResumeOptions {
  std::string saveDir; // "": nowhere
  ResumeKind resume = ResumeKind::Never;
  std::string resumePath; // of ResumeKind::Path
};

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

/// Whether checkpoints hold the tensor. Tensors that each step or sample writes
/// anew and working copies of parameters are not saved.
inline bool isSaved(const WeftTensor &tensor) {
  return !isScratch(tensor.kind) && tensor.kind != WEFT_WORKING;
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
Status checkFreeSpace(int64_t bytes, uint64_t freeBytes,
                      const std::string &saveDir);

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

//===- Reading ------------------------------------------------------------===//

// Opens a step directory and assembles tensors from their pieces, whatever the
// number of ranks that wrote them. Bytes are checked against the digests of
// their blocks while they are read. Each block is checked once if tensors are
// read in the order of a file.

/// Elements [begin, begin + count) of a tensor, in logical order, and where
/// they go in the arena.
struct TensorTarget {
  const ManifestTensor *tensor;
  int64_t begin, count;
  int64_t offset;
};

class CheckpointReader {
public:
  /// Reads the manifest alone.
  static Expected<CheckpointReader> open(const std::string &stepDirectory);
  CheckpointReader(std::string directory, Manifest manifest)
      : directory(std::move(directory)), info(std::move(manifest)) {}

  const Manifest &manifest() const { return info; }
  const std::string &path() const { return directory; }
  /// Copies elements [begin, begin + count) of a tensor to `out`.
  Status read(const ManifestTensor &tensor, int64_t begin, int64_t count,
              void *out);
  /// The same of a floating-point tensor, as f32.
  Status readFloats(const ManifestTensor &tensor, int64_t begin, int64_t count,
                    float *out);
  /// Many ranges, one file after the other in the order of their bytes: all are
  /// checked as they are handed out.
  Status readAll(const WeftContext &context,
                 const std::vector<TensorTarget> &targets);

private:
  /// Elements [begin, begin + count) of a piece in a file. They go to element
  /// `at` of the requested range.
  struct Part {
    const SafetensorsFile *file;
    const TensorInfo *info;
    int64_t begin, count;
    int64_t at;
  };
  /// Bytes [begin, begin + bytes) of a piece, which go to the arena.
  struct Range {
    const ManifestPiece *piece;
    const TensorInfo *info;
    int64_t begin, bytes;
    int64_t offset;
  };
  Status readRanges(const WeftContext &context, const std::string &name,
                    std::vector<Range> &ranges);
  Expected<const SafetensorsFile *> file(const std::string &name);
  Expected<std::vector<Part>> partsOf(const ManifestTensor &tensor,
                                      int64_t begin, int64_t count);

  std::string directory;
  Manifest info;
  std::shared_ptr<BlockBuffer> buffer = std::make_shared<BlockBuffer>();
  std::map<std::string, std::unique_ptr<SafetensorsFile>> files;
};

/// The name of a checkpoint's model; its fingerprint if model.json has no name.
std::string savedModelName(const std::string &stepDirectory,
                           const Manifest &manifest);

//===- Commands of `weft ckpt` --------------------------------------------===//

// The commands of `weft ckpt` as functions. A folder is a step directory, or a
// save directory that stands for its newest step. Texts end in a line end.

/// A save directory: one line per step (damaged ones say why). A step
/// directory: one line per tensor.
Expected<std::string> listCheckpoint(const std::string &folder);

/// Checks every digest and every piece: of all steps of a save directory, or of
/// one step. Damage is a checkpoint error that names the file.
Expected<std::string> verifyCheckpoint(const std::string &folder);

struct CheckpointDiff {
  bool equal = false; // bit for bit, the position in training included
  std::string text;   // one line per difference
};

/// Compares two checkpoints tensor by tensor: how many elements differ, the
/// largest difference, and the relative one, |a - b| / |a| in the L2 norm.
Expected<CheckpointDiff> diffCheckpoints(const std::string &a,
                                         const std::string &b);

/// Writes `config.json` (if the model had one) and `model.safetensors` with the
/// weights as F32, F16 or BF16, under the names they were imported by. The
/// bytes depend on the weights, the names and the type alone. Files beside the
/// model's configuration (companionNames()) are copied; a warning names one
/// that is gone or was changed. A file that is there already and would change
/// is a usage error, unless the user `overwrites`; a finite weight that the
/// type rounds to infinity is an input error, and no weights are written.
Status exportCheckpoint(const std::string &folder, const std::string &out,
                        TensorType type, bool overwrites = false);
/// Writes the file `out` in the form of llama.cpp, with the weights as F32,
/// F16, BF16 or Q8_0. Metadata and tokenizer come from the GGUF file that
/// the model was compiled from; without one, the keys come from the
/// configuration and a warning says that there is no tokenizer.
Status exportGguf(const std::string &folder, const std::string &out,
                  GgmlType type, bool overwrites = false);

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_CHECKPOINT_H
