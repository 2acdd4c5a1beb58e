//===- ProductShape.cpp - Sizes of a matrix product -----------------------===//

#include "weft/Layout/ProductShape.h"

using namespace llvm;

using namespace weft;

std::optional<ProductShape> ProductShape::get(ArrayRef<int64_t> lhs,
                                              ArrayRef<int64_t> rhs,
                                              bool transposeLhs,
                                              bool transposeRhs) {
  if (lhs.size() < 2 || rhs.size() < 2)
    return std::nullopt;
  ProductShape shape;
  shape.m = lhs[lhs.size() - (transposeLhs ? 1 : 2)];
  shape.k = lhs[lhs.size() - (transposeLhs ? 2 : 1)];
  shape.rhsK = rhs[rhs.size() - (transposeRhs ? 1 : 2)];
  shape.n = rhs[rhs.size() - (transposeRhs ? 2 : 1)];
  ArrayRef<int64_t> left = lhs.drop_back(2), right = rhs.drop_back(2);
  shape.batchesAgree = left == right || left.empty() || right.empty();
  ArrayRef<int64_t> batch = left.empty() ? right : left;
  shape.batch.assign(batch.begin(), batch.end());
  return shape;
}

SmallVector<int64_t> ProductShape::getResult() const {
  SmallVector<int64_t> sizes(batch);
  sizes.append({m, n});
  return sizes;
}
