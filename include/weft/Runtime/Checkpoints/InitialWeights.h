//===- InitialWeights.h - Where the first weights come from -----*- C++ -*-===//
//
// Weights of a file (--init-from, or recorded by the compiler with a digest),
// or the init program with the seed. Names, types and shapes are checked when
// they are opened; values and digests while they are read, once. A rank reads
// what it holds. Processes that have opened the same files check digests
// together, a share each; others check all of theirs.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_INITIALWEIGHTS_H
#define WEFT_RUNTIME_CHECKPOINTS_INITIALWEIGHTS_H

#include "weft/Formats/Safetensors.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/Metadata.h"
#include "weft/Runtime/Execute/StateSegments.h"

#include <optional>

namespace weft {

/// A recorded path as found here: beside the executable, or from here.
std::string locateWeights(const std::string &path,
                          const std::string &executablePath);

class InitialWeights {
public:
  /// Chooses the source and checks all but its values. `initFrom` is a file, ""
  /// for what the program records, or "none" for the init program;
  /// `executablePath` is where recorded relative paths start. A program that
  /// `trains` has more to initialize than weights.
  static Expected<InitialWeights> open(const std::string &initFrom, bool trains,
                                       const Metadata &metadata,
                                       const WeftExecutable &executable,
                                       const std::string &executablePath);

  /// Fills the weights of `context` and, for training, all other state; checks
  /// the values of the weights that it holds on the way.
  Status load(WeftContext &context, int64_t seed);
  /// Checks the values alone of the weights that a rank holds.
  Status verify(int64_t rank);

  /// Inode, size and time of change of each file: processes for which they are
  /// the same read the same files, by whatever path. "" without a file.
  Expected<std::string> identity() const;
  /// For processes that read the same files: ranges are read alone, before the
  /// blocks of a share are.
  void readRangesAlone();
  /// Whether the program records digests.
  bool isRecorded() const { return !recorded.empty(); }
  /// Digests of the blocks that load() and verify() have read and of a share of
  /// the rest, that of process `part` of `parts`, as a text for the others.
  Expected<std::string> shareDigests(int64_t part, int64_t parts);
  /// Whether the processes of these texts have read the same, and the files
  /// have the recorded digests.
  Status compareDigests(const std::vector<std::string> &shares) const;

  /// "weights of gpt2/model.safetensors" or "random weights, seed 1".
  std::string describe(int64_t seed) const;
  bool fromFile() const { return model.has_value(); }

private:
  Status match(const WeftExecutable &executable, const Metadata &metadata);
  Status matchOne(NamedTensor tensor);
  Status checkCount() const;
  /// Reads all weights that a rank holds, into `context`; with null they are
  /// only checked.
  Status readAll(int64_t rank, const WeftContext *context);

  bool trains = false;
  std::optional<SafetensorsModel> model;
  std::vector<InitialFile> recorded; // the digests of the files of `model`
  /// The file tensor of every weight, in the order of their bytes.
  std::vector<std::pair<NamedTensor, SafetensorsModel::Entry>> pairs;
};

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_INITIALWEIGHTS_H
