//===- Manifest.h - MANIFEST.json of a checkpoint ---------------*- C++ -*-===//
//
// Describes one committed step: which model, where training stood, which files
// with which digests, and where the pieces of each tensor lie. Pieces are
// ranges of the tensor's elements in logical order, so that any number of ranks
// can load them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_MANIFEST_H
#define WEFT_FORMATS_MANIFEST_H

#include "weft/Formats/RunRecord.h"
#include "weft/Formats/Safetensors.h"

namespace weft {

constexpr int manifestVersion = 1;
extern const char *const manifestName; // "MANIFEST.json"

/// Where the data stood: everything needed to read on with the next row.
struct DataCursor {
  int64_t rows = 0; // rows consumed since the start of training
  int64_t epoch = 0;
  bool shuffle = false;
  int64_t shuffleSeed = 0;
};

struct ManifestFile {
  std::string name; // inside the step directory, no '/'
  int64_t bytes = 0;
  std::string xxh3; // 32 hexadecimal digits
};

/// Elements [begin, end) of a tensor, stored as tensor `key` of `file`.
struct ManifestPiece {
  std::string file;
  std::string key;
  int64_t begin = 0;
  int64_t end = 0;
};

struct ManifestTensor {
  std::string name;
  std::string kind; // "param", "optimizer" or "scaler"
  TensorType type = TensorType::F32;
  std::vector<int64_t> shape;
  std::vector<ManifestPiece> pieces; // ascending, cover the tensor exactly
};

struct Manifest {
  int64_t worldSize = 1;
  std::string fingerprint; // of the model, not of batch, precision or mesh
  int64_t step = 0;
  int64_t seed = 0;
  DataCursor cursor;
  std::optional<double> valLoss; // of an evaluation after this step; finite
  std::optional<RunRecord> run;  // absent in a manifest without a run
  /// Numbers such as the loss scale, by name; finite.
  std::vector<std::pair<std::string, double>> scalars;
  std::vector<ManifestFile> files;
  std::vector<ManifestTensor> tensors;

  const ManifestFile *findFile(const std::string &name) const;
  const ManifestTensor *findTensor(const std::string &name) const;
  std::optional<double> scalar(const std::string &name) const;

  /// Deterministic JSON text, with its own digest in front.
  std::string str() const;
  /// Every error is a checkpoint error (exit 5).
  static Expected<Manifest> parse(std::string_view text,
                                  const std::string &file);
  /// The manifest of a step directory. One named step_N must hold step N; what
  /// the system cannot read is a storage error (exit 8).
  static Expected<Manifest> read(const std::string &stepDirectory);
  Status write(const std::string &stepDirectory) const;

  /// Rules that hold for the values themselves: names, digests, and pieces that
  /// cover each tensor exactly. parse() checks them too.
  Status validate(const std::string &file) const;
  /// Every file is there with its size and digest, and holds every piece with
  /// the type and size stated.
  Status verifyFiles(const std::string &stepDirectory) const;
};

/// The name of a piece inside its file: the tensor's own name when the piece is
/// the whole tensor, else `name[begin:end)`.
std::string pieceKey(const std::string &tensor, int64_t begin, int64_t end,
                     int64_t elements);

} // namespace weft

#endif // WEFT_FORMATS_MANIFEST_H
