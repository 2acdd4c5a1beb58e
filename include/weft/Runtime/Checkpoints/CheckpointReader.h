//===- CheckpointReader.h - Tensors of a checkpoint -------------*- C++ -*-===//
//
// Opens a step directory and assembles tensors from their pieces, whatever the
// number of ranks that wrote them. Bytes are checked against the digests of
// their blocks while they are read. Each block is checked once if tensors are
// read in the order of a file.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTREADER_H
#define WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTREADER_H

#include "weft/Formats/Manifest.h"
#include "weft/Runtime/Execute/Context.h"

#include <map>
#include <memory>
#include <vector>

namespace weft {

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

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTS_CHECKPOINTREADER_H
