//===- CheckpointReader.h - Tensors of a checkpoint -------------*- C++ -*-===//
//
// Opens a step directory, verifies it, and puts the pieces of a tensor
// together, however many ranks wrote them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CHECKPOINTREADER_H
#define WEFT_RUNTIME_CHECKPOINTREADER_H

#include "weft/Formats/Manifest.h"

#include <map>
#include <memory>
#include <vector>

namespace weft {

class CheckpointReader {
public:
  /// Digests are verified here.
  static Expected<CheckpointReader> open(const std::string &stepDirectory);
  /// For a checkpoint that was verified already.
  CheckpointReader(std::string directory, Manifest manifest)
      : directory(std::move(directory)), info(std::move(manifest)) {}

  const Manifest &manifest() const { return info; }
  const std::string &path() const { return directory; }
  /// Copies all elements of a tensor, in logical order, to `out`.
  Status read(const ManifestTensor &tensor, char *out);
  Expected<std::vector<char>> read(const ManifestTensor &tensor);
  /// The elements of a floating-point tensor as f32.
  Expected<std::vector<float>> readFloats(const ManifestTensor &tensor);

private:
  Expected<const SafetensorsFile *> file(const std::string &name);

  std::string directory;
  Manifest info;
  std::map<std::string, std::unique_ptr<SafetensorsFile>> files;
};

/// What the model of a checkpoint is called; its fingerprint if model.json does
/// not tell.
std::string savedModelName(const std::string &stepDirectory,
                           const Manifest &manifest);

} // namespace weft

#endif // WEFT_RUNTIME_CHECKPOINTREADER_H
