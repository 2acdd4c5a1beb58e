//===- WeightSource.h - The source of the first weights ---------*- C++ -*-===//
//
// Initial weights come from a file (--init-from, or recorded by the compiler
// with a digest) or from the init program with the seed. Names, types and
// shapes are checked when the file is opened. Values and digests are checked
// once, while they are read. A rank reads only its shards. Processes that have
// opened the same files each check a share of the digests; others check all of
// their own files.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_WEIGHTSOURCE_H
#define WEFT_RUNTIME_CHECKPOINTS_WEIGHTSOURCE_H

#include "weft/Formats/ModelWeights.h"
#include "weft/Runtime/Execute/Context.h"
#include "weft/Runtime/Execute/Metadata.h"
#include "weft/Runtime/Execute/StateSegments.h"

#include <optional>

namespace weft {

/// Resolves a recorded path: relative to the folder of the executable if the
/// file exists there, else to the current folder.
std::string locateWeights(const std::string &path,
                          const std::string &executablePath);

/// Reads a rank's shard of a weight and stores it, converted if the types
/// differ. Without a context it is only checked. A value that the type of the
/// weight cannot represent is an input error.
Status readWeight(int64_t rank, const WeftContext *context,
                  const NamedTensor &tensor, const ModelWeights::Entry &entry);

class WeightSource {
public:
  /// Chooses the source and checks everything but its values. `initFrom` is a
  /// file, "" for the files that the program records, or "none" for the init
  /// program. Recorded relative paths start at `executablePath`. A program that
  /// `trains` initializes more state than the weights.
  static Expected<WeightSource> open(const std::string &initFrom, bool trains,
                                     const Metadata &metadata,
                                     const WeftExecutable &executable,
                                     const std::string &executablePath);

  /// Fills the weights of `context` and, for training, all other state. Checks
  /// the values of the rank's shards while it reads them.
  Status load(WeftContext &context, int64_t seed);
  /// Checks the values of a rank's shards without storing them.
  Status verify(int64_t rank);

  /// Inode, size and time of change of each file. Processes with equal texts
  /// read the same files, even by different paths. "" without a file.
  Expected<std::string> identity() const;
  /// For processes that read the same files: load() and verify() read only the
  /// bytes of their shards, unchecked. shareDigests() then reads and checks the
  /// blocks of a share.
  void readRangesAlone();
  /// Whether the program records digests.
  bool isRecorded() const { return !recorded.empty(); }
  /// Digests of the blocks that load() and verify() have read, and of the other
  /// blocks in the share of process `part` of `parts`. The result is a text for
  /// compareDigests().
  Expected<std::string> shareDigests(int64_t part, int64_t parts);
  /// An error unless the processes of these texts have read the same bytes and
  /// the files have the recorded digests.
  Status compareDigests(const std::vector<std::string> &shares) const;

  /// "weights of gpt2/model.safetensors" or "random weights, seed 1".
  std::string describe(int64_t seed) const;
  bool fromFile() const { return model.has_value(); }

private:
  Status match(const WeftExecutable &executable, const Metadata &metadata);
  Status matchOne(NamedTensor tensor);
  Status checkCount() const;
  /// Reads the shards of a rank into `context`; if it is null, only checks
  /// them.
  Status readAll(int64_t rank, const WeftContext *context);

  bool trains = false;
  std::optional<ModelWeights> model;
  std::vector<InitialFile> recorded; // the digests of the files of `model`
  /// The file tensor of every weight, in the order of their bytes.
  std::vector<std::pair<NamedTensor, ModelWeights::Entry>> pairs;
};

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_WEIGHTSOURCE_H
