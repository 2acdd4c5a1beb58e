//===- GpuSums.cpp - Sums and extrema of a kernel -------------------------===//
//
// Every order of additions is a tree that depends on the shape alone. A thread
// halves its partial sums. A warp then exchanges sums between threads whose
// numbers differ in one bit. Last, a block adds the sums of its warps. No
// atomics.
//
//===----------------------------------------------------------------------===//

#include "GpuEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace weft;

/// The running totals among the nest's results, without sums over rows.
SmallVector<NestTotal> GpuEmitter::totalsOf(const KernelNest &nest) const {
  SmallVector<NestTotal> totals;
  for (const NestTotal &total : nest.totals)
    if (total.combiner && !total.isOverRows)
      totals.push_back(total);
  return totals;
}

/// The initial value of a total.
Value GpuEmitter::identity(const NestTotal &total, Type type) {
  double start = cast<FloatAttr>(total.start).getValueAsDouble();
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, start));
}

GpuEmitter::Values GpuEmitter::identities(const KernelNest &nest,
                                          int64_t partials) {
  Values sums;
  for (const NestTotal &total : totalsOf(nest))
    for (int64_t i = 0; i < partials; ++i)
      sums.push_back(identity(total, total.getSumType()));
  return sums;
}

Value GpuEmitter::widen(const NestTotal &total, Value value) {
  Type type = total.getWideType();
  return value.getType() == type
             ? value
             : arith::ExtFOp::create(b, loc, type, value).getResult();
}

Value GpuEmitter::narrow(const NestTotal &total, Value value) {
  Type type = total.getSumType();
  return value.getType() == type
             ? value
             : arith::TruncFOp::create(b, loc, type, value).getResult();
}

/// Joins the partial sums of each total, unless they are of columns.
GpuEmitter::Values GpuEmitter::joinPartials(const KernelNest &nest,
                                            ArrayRef<Value> sums,
                                            bool areColumns) {
  if (areColumns)
    return Values(sums);
  SmallVector<NestTotal> totals = totalsOf(nest);
  Values joined;
  for (auto [i, total] : llvm::enumerate(totals)) {
    size_t count = sums.size() / totals.size();
    joined.push_back(total.combineAll(b, Values(sums.slice(i * count, count))));
  }
  return joined;
}

/// Adds the sums of a block of steps to the sums of earlier blocks.
GpuEmitter::Values GpuEmitter::addBlock(const KernelNest &nest,
                                        const Values &wide,
                                        ArrayRef<Value> sums) {
  SmallVector<NestTotal> totals = totalsOf(nest);
  Values added;
  for (auto [i, sum] : llvm::enumerate(sums)) {
    const NestTotal &total = totals[i * totals.size() / sums.size()];
    added.push_back(total.combine(b, wide[i], widen(total, sum)));
  }
  return added;
}

/// The sum over the threads of a warp, in each of them.
Value GpuEmitter::addWarp(const NestTotal &total, Value value) {
  for (int64_t bit = kWarp / 2; bit > 0; bit /= 2) {
    Value other =
        gpu::ShuffleOp::create(b, loc, value, bit, kWarp, gpu::ShuffleMode::XOR)
            .getShuffleResult();
    value = total.combine(b, value, other);
  }
  return value;
}

/// Memory of the block, of which only this total knows.
Value GpuEmitter::sharedBuffer(ArrayRef<int64_t> shape, Type element) {
  auto space = gpu::AddressSpaceAttr::get(
      b.getContext(), gpu::GPUDialect::getWorkgroupAddressSpace());
  auto type =
      MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space);
  return function.addWorkgroupAttribution(type, loc);
}

/// A barrier of the block.
void GpuEmitter::meetBlock() {
  gpu::BarrierOp::create(b, loc);
  read.clear();
}

/// The sum over the warps of a block, in each thread. `value` is the sum of the
/// thread's warp.
Value GpuEmitter::addWarps(const NestTotal &total, Value value, Value thread,
                           int64_t warps) {
  Value shared = sharedBuffer({warps}, value.getType());
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                        remainder(thread, kWarp), constant(0));
  emitIf(isFirst, {}, [&]() -> Values {
    memref::StoreOp::create(b, loc, value, shared,
                            asIndex(divide(thread, kWarp)));
    return {};
  });
  meetBlock();
  Values sums;
  for (int64_t warp = 0; warp < warps; ++warp)
    sums.push_back(
        memref::LoadOp::create(b, loc, shared, asIndex(constant(warp))));
  return total.combineAll(b, sums);
}

/// The totals of a nest are numbers from here on.
void GpuEmitter::setTotals(const KernelNest &nest, ArrayRef<Value> sums) {
  for (auto [total, output] : llvm::zip(nest.totals, nest.outputs)) {
    if (!total.combiner || total.isOverRows)
      continue;
    numbers[output.base] = narrow(total, sums.front());
    sums = sums.drop_front();
  }
}
