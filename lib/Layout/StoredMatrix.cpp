//===- StoredMatrix.cpp - Buffers as stored matrices ----------------------===//

#include "weft/Layout/Layout.h"

using namespace llvm;

using namespace mlir;
using namespace weft;

/// Layout with all but the last `keep` dimensions merged to one.
static std::optional<Layout> mergeLeading(const Layout &layout, size_t keep) {
  size_t leading = layout.sizes.size() - keep;
  SmallVector<int64_t> sizes = {1};
  for (size_t i = 0; i != leading; ++i)
    sizes[0] *= layout.sizes[i];
  sizes.append(layout.sizes.begin() + leading, layout.sizes.end());
  return layout.reshape(sizes);
}

/// Reads a layout [batch, rows, columns] as stored rows or stored columns.
static std::optional<StoredMatrix> read(const Layout &layout) {
  StoredMatrix matrix;
  matrix.batch = layout.sizes[0];
  matrix.batchStride = layout.sizes[0] == 1 ? 0 : layout.strides[0];
  matrix.rows = layout.sizes[1];
  matrix.columns = layout.sizes[2];
  matrix.transposed = false;
  int64_t row = layout.strides[1], column = layout.strides[2];
  if (matrix.columns == 1 || column == 1) {
    matrix.leading = matrix.rows == 1 ? matrix.columns : row;
    if (matrix.leading >= matrix.columns)
      return matrix;
  }
  if (matrix.rows == 1 || row == 1) {
    matrix.leading = matrix.columns == 1 ? matrix.rows : column;
    matrix.transposed = true;
    if (matrix.leading >= matrix.rows)
      return matrix;
  }
  return std::nullopt;
}

std::optional<StoredMatrix> StoredMatrix::get(const Layout &layout, bool flat) {
  if (layout.sizes.size() < 2)
    return std::nullopt;
  std::optional<Layout> merged = mergeLeading(layout, flat ? 1 : 2);
  if (!merged)
    return std::nullopt;
  if (flat) {
    merged->sizes.insert(merged->sizes.begin(), 1);
    merged->strides.insert(merged->strides.begin(), 0);
  }
  std::optional<StoredMatrix> matrix = read(*merged);
  bool steps = matrix && matrix->batchStride < 0;
  return steps ? std::nullopt : matrix;
}
