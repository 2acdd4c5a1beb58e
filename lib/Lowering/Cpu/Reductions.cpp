//===- Reductions.cpp - Sums and extrema of a kernel ----------------------===//
//
// The order of additions depends on the shape alone: lane i of partial j adds
// the chunks j, j + n, ... in order, then partials and lanes are halved.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace weft {

/// The running totals among the nest's results.
llvm::SmallVector<NestTotal> KernelEmitter::totalsOf(const KernelNest &nest) {
  llvm::SmallVector<NestTotal> totals;
  for (const NestTotal &total : nest.totals)
    if (total.combiner)
      totals.push_back(total);
  return totals;
}

Type KernelEmitter::getSumType(const NestTotal &total) {
  return total.start.getType();
}

Value KernelEmitter::identity(const NestTotal &total) {
  auto type = cast<ShapedType>(lanesOf(getSumType(total)));
  return arith::ConstantOp::create(b, loc,
                                   DenseElementsAttr::get(type, total.start));
}

/// The body's own addition (or extremum) of two scalars or vectors.
Value KernelEmitter::combine(const NestTotal &total, Value x, Value y) {
  IRMapping mapping;
  mapping.map(total.combiner->getOperand(0), x);
  mapping.map(total.combiner->getOperand(1), y);
  Value result = b.clone(*total.combiner, mapping)->getResult(0);
  result.setType(x.getType());
  return result;
}

/// The lanes to add, in the accumulator's type.
Value KernelEmitter::getSummand(const KernelNest &nest,
                                const NestTotal &total) {
  return getScalar(nest, total.combiner->getOperand(1), /*lanes=*/true);
}

Value KernelEmitter::reduceLanes(const NestTotal &total,
                                 llvm::ArrayRef<Value> partials) {
  Values level(partials.begin(), partials.end());
  while (level.size() > 1) {
    Values next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(combine(total, level[i], level[i + 1]));
    if (level.size() % 2)
      next.push_back(level.back());
    level = next;
  }
  Value value = level.front();
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    llvm::SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < half; ++lane) {
      low.push_back(lane);
      high.push_back(lane + half);
    }
    Value x = vector::ShuffleOp::create(b, loc, value, value, low);
    Value y = vector::ShuffleOp::create(b, loc, value, value, high);
    value = combine(total, x, y);
  }
  return vector::ExtractOp::create(b, loc, value, llvm::ArrayRef<int64_t>{0});
}

} // namespace weft
