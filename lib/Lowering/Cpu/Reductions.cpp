//===- Reductions.cpp - Sums and extrema of a kernel ----------------------===//
//
// The order of additions depends on the shape alone: lane i of partial j adds
// the chunks j, j + n, ... in order, then partials and lanes are halved.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace weft {

/// f16 and bf16 accumulate in f32.
Type KernelEmitter::getSumType(ReduceOp op) {
  Type element = getElementTypeOrSelf(op.getType());
  return element.isF64() ? element : b.getF32Type();
}

Value KernelEmitter::identity(ReduceOp op, Type type) {
  double infinity = std::numeric_limits<double>::infinity();
  switch (op.getKind()) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return splat(type, 0.0);
  case ReduceKind::Max:
    return splat(type, -infinity);
  case ReduceKind::Min:
    return splat(type, infinity);
  }
  llvm_unreachable("covered switch");
}

Value KernelEmitter::combine(ReduceOp op, Value x, Value y) {
  switch (op.getKind()) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return arith::AddFOp::create(b, loc, x, y);
  case ReduceKind::Max:
    return arith::MaximumFOp::create(b, loc, x, y);
  case ReduceKind::Min:
    return arith::MinimumFOp::create(b, loc, x, y);
  }
  llvm_unreachable("covered switch");
}

/// From the sum in the accumulator's type to the result.
Value KernelEmitter::finish(ReduceOp op, Value sum) {
  if (op.getKind() == ReduceKind::Mean) {
    auto type = cast<RankedTensorType>(op.getOperand().getType());
    double count = 1;
    for (int64_t dim : op.getDims())
      count *= type.getDimSize(dim);
    sum = arith::DivFOp::create(b, loc, sum, splat(sum.getType(), count));
  }
  Type element = getElementTypeOrSelf(op.getType());
  if (getElementTypeOrSelf(sum.getType()) == element)
    return sum;
  Type type = isa<VectorType>(sum.getType()) ? lanesOf(element) : element;
  return arith::TruncFOp::create(b, loc, type, sum);
}

/// The lanes to add, in the accumulator's type.
Value KernelEmitter::getSummand(ReduceOp op) {
  Value value = getOperand(op->getOpOperand(0), /*lanes=*/true);
  Type sum = getSumType(op);
  if (getElementTypeOrSelf(value.getType()) == sum)
    return value;
  return arith::ExtFOp::create(b, loc, lanesOf(sum), value);
}

Value KernelEmitter::reduceLanes(ReduceOp op, llvm::ArrayRef<Value> partials) {
  Values level(partials.begin(), partials.end());
  while (level.size() > 1) {
    Values next;
    for (size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(combine(op, level[i], level[i + 1]));
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
    value = combine(op, x, y);
  }
  return vector::ExtractOp::create(b, loc, value, llvm::ArrayRef<int64_t>{0});
}

} // namespace weft
