//===- GgufWeights.h - A GGUF file as weights of a model --------*- C++ -*-===//
//
// Shows the tensors of a GGUF file with the names, shapes and order of elements
// that Hugging Face's transformers gives them, as f32.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FORMATS_GGUFWEIGHTS_H
#define WEFT_FORMATS_GGUFWEIGHTS_H

#include "weft/Formats/GgufFamilies.h"
#include "weft/Formats/Safetensors.h"

#include <functional>

namespace weft {

/// Reads elements [begin, begin + count) of a tensor, row major.
using ReadFloats =
    std::function<Status(int64_t begin, int64_t count, float *out)>;

/// A matrix, or a vector as one of one column, that is read in another order
/// than it is stored in. Transposing keeps a panel of rows in memory.
class ReorderedMatrix {
public:
  enum class Direction { FromGguf, ToGguf };

  /// `rows` and `columns` of the result. GGUF orders the rows of `heads` heads
  /// in another way; `rows` must fit.
  ReorderedMatrix(GgufLayout layout, Direction direction, int64_t heads,
                  int64_t rows, int64_t columns)
      : layout(layout), direction(direction), heads(heads), rows(rows),
        columns(columns) {}

  /// Whether the rows of a matrix are heads: of even width, or with as many
  /// rows for query, key and value.
  static bool fits(GgufLayout layout, int64_t heads, int64_t rows);
  /// Elements of the result; `source` reads the stored matrix.
  Status read(const ReadFloats &source, int64_t begin, int64_t count,
              float *out);

private:
  int64_t sourceRow(int64_t row) const;
  int64_t groupedRow(int64_t row) const;
  Status readRows(const ReadFloats &source, int64_t begin, int64_t count,
                  float *out);
  Status loadPanel(const ReadFloats &source, int64_t first);
  Status readTransposed(const ReadFloats &source, int64_t begin, int64_t count,
                        float *out);

  GgufLayout layout;
  Direction direction;
  int64_t heads, rows, columns;
  std::vector<float> panel; // rows from panelBegin on, of the result
  int64_t panelBegin = -1;
};

class GgufWeights : public TensorReader {
public:
  static Expected<std::unique_ptr<GgufWeights>>
  open(std::unique_ptr<ByteSource> source);

  const GgufFile &file() const { return gguf; }
  /// In the order of their bytes in the file. Tensors of an unknown name keep
  /// it.
  const std::vector<TensorInfo> &tensors() const { return infos; }

  const std::string &path() const override { return gguf.path(); }
  Status read(const TensorInfo &info, int64_t begin, int64_t bytes,
              void *out) const override;
  Status readFloats(const TensorInfo &info, int64_t begin, int64_t count,
                    float *out) const override;

private:
  explicit GgufWeights(GgufFile file) : gguf(std::move(file)) {}
  Status addTensor(const GgufFamily &family, const Json &config,
                   const GgufTensor &tensor);

  GgufFile gguf;
  std::vector<TensorInfo> infos;
  /// By the tensors' number, which is in `infos`; none for the same order.
  mutable std::vector<std::optional<ReorderedMatrix>> reordered;
  std::vector<float> offsets; // of rows in the same order
  std::vector<const GgufTensor *> stored;
};

} // namespace weft

#endif // WEFT_FORMATS_GGUFWEIGHTS_H
