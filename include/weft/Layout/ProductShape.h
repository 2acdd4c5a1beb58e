//===- ProductShape.h - Sizes of a matrix product ---------------*- C++ -*-===//

#ifndef WEFT_LAYOUT_PRODUCTSHAPE_H
#define WEFT_LAYOUT_PRODUCTSHAPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace weft {

/// Batch dimensions and the M, N, K of `op(lhs) x op(rhs)` over the last two
/// dimensions. Batches agree if they are equal or one side has none.
struct ProductShape {
  llvm::SmallVector<int64_t> batch;
  int64_t m, n, k, rhsK;
  bool batchesAgree;

  /// Nothing if a side has fewer than two dimensions.
  static std::optional<ProductShape> get(llvm::ArrayRef<int64_t> lhs,
                                         llvm::ArrayRef<int64_t> rhs,
                                         bool transposeLhs, bool transposeRhs);
  bool isValid() const { return k == rhsK && batchesAgree; }
  /// Batch dimensions, M, N.
  llvm::SmallVector<int64_t> getResult() const;
};

} // namespace weft

#endif // WEFT_LAYOUT_PRODUCTSHAPE_H
