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

constexpr int manifestVersion = 2;

// Numbers beyond are damage: steps have 18 digits in a directory's name, ranks
// 5 in a file's, and a count of rows can still be added to.
constexpr int64_t mostSteps = 999'999'999'999'999'999;
constexpr int64_t mostRanks = 100'000;
constexpr int64_t mostRows = int64_t(1) << 62;

/// Where the data stood: everything needed to read on with the next row.
struct DataCursor {
  int64_t rows = 0; // rows consumed since the start of training
  bool shuffle = false;
  int64_t shuffleSeed = 0;
};

struct ManifestFile {
  std::string name; // inside the step directory, no '/'
  FileDigest digest;
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
  std::string fingerprint;  // of the model, not of batch, precision or mesh
  std::string fingerprint1; // of version 1, or ""
  int64_t step = 0;
  int64_t seed = 0;
  DataCursor cursor;
  std::optional<double> valLoss; // of an evaluation after this step; finite
  bool onlyBest = false;         // saved for its valLoss, for no other reason
  std::optional<RunRecord> run;  // absent in a manifest without a run
  std::vector<ManifestFile> files;
  std::vector<ManifestTensor> tensors;

  const ManifestTensor *findTensor(const std::string &name) const;

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
  /// Every file is there with its size and digests, and holds every piece with
  /// the type and size stated. What cannot be read is a storage error.
  Status verifyFiles(const std::string &stepDirectory) const;
  /// A listed file of the right size, whose bytes are checked as they are read.
  /// Files of one reader may share a `buffer`.
  Expected<std::unique_ptr<CheckedFile>>
  openFile(const std::string &stepDirectory, const std::string &name,
           std::shared_ptr<BlockBuffer> buffer = nullptr) const;
  /// The text of such a file.
  Expected<std::string> readText(const std::string &stepDirectory,
                                 const std::string &name) const;
  /// The pieces that lie in `file`, which is listed as `name`, are there with
  /// the type and size stated.
  Status verifyPieces(const SafetensorsFile &file,
                      const std::string &name) const;
};

/// The error of reading a file of a checkpoint that has a manifest.
Error asDamage(Error error);

/// The name of a piece inside its file: the tensor's own name when the piece is
/// the whole tensor, else `name[begin:end)`.
std::string pieceKey(const std::string &tensor, int64_t begin, int64_t end,
                     int64_t elements);

/// A text field of an object; "" for another value or none.
std::string textField(const Json &object, const char *name);

} // namespace weft

#endif // WEFT_FORMATS_MANIFEST_H
