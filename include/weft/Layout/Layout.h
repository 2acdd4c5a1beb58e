//===- Layout.h - Sizes, strides and offset of a buffer ---------*- C++ -*-===//

#ifndef WEFT_LAYOUT_LAYOUT_H
#define WEFT_LAYOUT_LAYOUT_H

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace weft {

/// Bytes that a tensor or a buffer may have, and that its strides stay within:
/// far more than a machine has, and sums of many do not overflow.
constexpr int64_t kMostBufferBytes = int64_t(1) << 44;

/// Strides and offset of a buffer, in elements from the start of its root.
struct Layout {
  llvm::SmallVector<int64_t> sizes;
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;

  static Layout get(mlir::MemRefType type);
  static Layout getDense(llvm::ArrayRef<int64_t> sizes);
  /// As getDense, but a row, the last dimension, begins `pitch` elements behind
  /// the begin of the one before it; 0: as getDense.
  static Layout getPitched(llvm::ArrayRef<int64_t> sizes, int64_t pitch);
  /// Whether the elements lie densely in row-major order.
  bool isDense() const;
  mlir::MemRefType getType(mlir::Type element) const;
  /// Layout of the same elements under `newSizes`, or nothing if that needs a
  /// copy or if they are not as many.
  std::optional<Layout> reshape(llvm::ArrayRef<int64_t> newSizes) const;
  /// Whether sizes and strides are equal; offsets, and strides of dimensions of
  /// size 1, may differ.
  bool isLike(const Layout &other) const;
  /// The same elements of a dense root, in one whose rows of `columns` elements
  /// lie `pitch` apart. Nothing if steps of one dimension cross from row to row
  /// in different ways.
  std::optional<Layout> spreadRows(int64_t columns, int64_t pitch) const;
  /// Whether no two indices are one element. Of three or more dimensions whose
  /// steps interleave, so that none can be told from the others by its length
  /// or its divisor, elements are listed; layouts of more than 2^20 separate
  /// runs in those dimensions count as repeating some.
  bool isInjective() const;
  /// Whether an element belongs to both. Layouts of more than 2^20 separate
  /// runs that are no slices of the same rows count as overlapping.
  bool overlaps(const Layout &other) const;
};

/// A batch of stored matrices: rows of `columns` elements that lie `leading`
/// apart, or, if `transposed`, columns of `rows` elements.
struct StoredMatrix {
  int64_t batch, batchStride, rows, columns, leading;
  bool transposed;

  /// Reads the last two dimensions as rows and columns, the others as batches;
  /// with `flat`, all but the last as rows. Nothing if the strides do not allow
  /// that.
  static std::optional<StoredMatrix> get(const Layout &layout, bool flat);
};

} // namespace weft

#endif // WEFT_LAYOUT_LAYOUT_H
