//===- GgufWriter.h - Writer of GGUF files ----------------------*- C++ -*-===//
//
// Writes a file of version 3 front to back: metadata and descriptions first,
// then the elements of each tensor. The bytes depend on the arguments alone.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_GGUFWRITER_H
#define WEFT_FORMATS_GGUFWRITER_H

#include "weft/Base/OutputFile.h"
#include "weft/Formats/GgufFamilies.h"

namespace weft {

/// Metadata in the form of the file.
class GgufMetadata {
public:
  void addInteger(std::string_view key, uint32_t value);
  void addNumber(std::string_view key, float value);
  void addFlag(std::string_view key, bool value);
  void addText(std::string_view key, std::string_view value);
  /// A value of another file, unchanged.
  Status copy(const GgufFile &file, const GgufEntry &entry);

  uint64_t count() const { return values; }
  const std::string &bytes() const { return text; }

private:
  void addKey(std::string_view key, GgufValueType type);

  std::string text;
  uint64_t values = 0;
};

/// A tensor to be written, outermost dimension first.
struct GgufTensorSpec {
  std::string name;
  GgmlType type = GgmlType::F32;
  std::vector<int64_t> shape;
};

class GgufWriter {
public:
  static Expected<GgufWriter> create(const std::string &path,
                                     const GgufMetadata &metadata,
                                     std::vector<GgufTensorSpec> specs);

  /// The next elements of the tensors, in order. A call must not go beyond the
  /// end of a tensor, and has whole blocks. Returns the number of quantized
  /// blocks that the type cannot hold.
  Expected<int64_t> write(const float *values, int64_t count);
  /// Checks that every element came, flushes to the disk and renames.
  Status finish(IfTaken ifTaken = IfTaken::Replace);

private:
  GgufWriter() = default;
  Status pad();

  OutputFile out;
  std::vector<GgufTensorSpec> specs;
  size_t next = 0;    // tensor being written
  int64_t done = 0;   // its elements so far
  int64_t length = 0; // bytes of the file so far
};

/// The keys of a model, by its configuration.
Expected<GgufMetadata> ggufMetadata(const GgufFamily &family, Json config);
/// The elements of a tensor that is configuration; empty if the model needs
/// none.
Expected<std::vector<float>> ggufTable(const GgufFamily &family, Json config,
                                       std::string_view name);
/// The type in which a tensor is written if `type` is asked for: vectors and
/// tables of positions stay F32, and rows that have no whole blocks become F16.
GgmlType writtenType(const GgufTensorRow &row,
                     const std::vector<int64_t> &shape, GgmlType type);
/// general.file_type of a file of this type.
uint32_t ggufFileType(GgmlType type);

} // namespace weft

#endif // WEFT_FORMATS_GGUFWRITER_H
