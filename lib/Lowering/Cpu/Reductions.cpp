//===- Reductions.cpp - Sums and extrema of a kernel ----------------------===//
//
// The order of additions depends on the shape alone: in a block, lane i of
// partial j adds the chunks j, j + n, ... in order, then the partials are
// halved; blocks are added in f64, one by one; at the end lanes are halved.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace weft;

/// The running totals among the nest's results that its loops add up.
SmallVector<NestTotal> KernelEmitter::totalsOf(const KernelNest &nest) {
  SmallVector<NestTotal> totals;
  for (const NestTotal &total : nest.totals)
    if (total.combiner && !picks.contains(total.combiner))
      totals.push_back(total);
  return totals;
}

/// The initial value of a total, in lanes of `element`.
Value KernelEmitter::identity(const NestTotal &total, Type element) {
  return splat(lanesOf(element),
               cast<FloatAttr>(total.start).getValueAsDouble());
}

KernelEmitter::Values KernelEmitter::identities(ArrayRef<NestTotal> totals,
                                                int64_t partials) {
  Values sums;
  for (const NestTotal &total : totals)
    sums.append(partials, identity(total, total.getSumType()));
  return sums;
}

KernelEmitter::Values
KernelEmitter::wideIdentities(ArrayRef<NestTotal> totals) {
  Values sums;
  for (const NestTotal &total : totals)
    sums.push_back(identity(total, total.getWideType()));
  return sums;
}

Value KernelEmitter::widen(const NestTotal &total, Value lanes) {
  Type type = lanesOf(total.getWideType());
  return lanes.getType() == type
             ? lanes
             : arith::ExtFOp::create(b, loc, type, lanes).getResult();
}

/// The lanes to add, in the accumulator's type.
Value KernelEmitter::getSummand(const KernelNest &nest,
                                const NestTotal &total) {
  return getScalar(nest, total.getElement(), /*lanes=*/true);
}

/// Adds the partial sums of a block to the totals of the blocks before it.
KernelEmitter::Values KernelEmitter::addBlock(const KernelNest &nest,
                                              Values wide,
                                              ArrayRef<Value> sums) {
  SmallVector<NestTotal> totals = totalsOf(nest);
  size_t partials = sums.size() / totals.size();
  for (auto [i, total] : llvm::enumerate(totals)) {
    Value block =
        total.combineAll(b, Values(sums.slice(i * partials, partials)));
    wide[i] = total.combine(b, wide[i], widen(total, block));
  }
  return wide;
}

/// One number of the type of the sum.
Value KernelEmitter::reduceLanes(const NestTotal &total,
                                 ArrayRef<Value> partials) {
  Value value = total.combineAll(b, Values(partials));
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < half; ++lane) {
      low.push_back(lane);
      high.push_back(lane + half);
    }
    Value x = vector::ShuffleOp::create(b, loc, value, value, low);
    Value y = vector::ShuffleOp::create(b, loc, value, value, high);
    value = total.combine(b, x, y);
  }
  value = vector::ExtractOp::create(b, loc, value, ArrayRef<int64_t>{0});
  Type type = total.getSumType();
  return value.getType() == type
             ? value
             : arith::TruncFOp::create(b, loc, type, value).getResult();
}
