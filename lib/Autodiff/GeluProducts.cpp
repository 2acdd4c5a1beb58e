//===- GeluProducts.cpp - A gelu and the product before it ----------------===//

#include "SavedOps.h"

using namespace mlir;
using namespace weft;

/// Rows of kept sums are of whole vectors.
static constexpr int64_t kColumns = 8;

static bool isRow(Value value) {
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    value = broadcast.getOperand();
  return getShape(value).size() == 1;
}

/// The product whose result is `value`, if one op reads it.
static MatmulOp findProduct(Value value) {
  auto product = value.getDefiningOp<MatmulOp>();
  const bool isFit = product && value.hasOneUse() &&
                     getElementTypeOrSelf(value).isF32() &&
                     getShape(value).back() % kColumns == 0;
  return isFit ? product : MatmulOp();
}

SmallVector<Operation *, 3> weft::findGeluProduct(Operation *op) {
  auto gelu = dyn_cast<GeluOp>(op);
  if (!gelu || gelu.getApproximate() != GeluKind::Tanh ||
      !gelu.getOperand().hasOneUse())
    return {};
  if (MatmulOp product = findProduct(gelu.getOperand()))
    return {op, product};
  auto add = gelu.getOperand().getDefiningOp<AddOp>();
  if (!add)
    return {};
  MatmulOp left = findProduct(add.getLhs()), right = findProduct(add.getRhs());
  if (left && isRow(add.getRhs()))
    return {op, add, left};
  if (right && isRow(add.getLhs()))
    return {op, add, right};
  return {};
}
