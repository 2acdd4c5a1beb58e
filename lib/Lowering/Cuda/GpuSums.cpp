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
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace weft;

/// The running totals among the nest's results.
SmallVector<NestTotal> GpuEmitter::totalsOf(const KernelNest &nest) const {
  SmallVector<NestTotal> totals;
  for (const NestTotal &total : nest.totals)
    if (total.combiner)
      totals.push_back(total);
  return totals;
}

Type GpuEmitter::getSumType(const NestTotal &total) const {
  return total.start.getType();
}

/// The type in which blocks are added up: f64 for sums. Extrema are exact.
Type GpuEmitter::getWideType(const NestTotal &total) {
  return isa<arith::AddFOp>(total.combiner) ? b.getF64Type()
                                            : getSumType(total);
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
      sums.push_back(identity(total, getSumType(total)));
  return sums;
}

/// The body's own addition (or extremum) of two numbers.
Value GpuEmitter::combine(const NestTotal &total, Value x, Value y) {
  IRMapping mapping;
  mapping.map(total.combiner->getOperand(0), x);
  mapping.map(total.combiner->getOperand(1), y);
  Value result = b.clone(*total.combiner, mapping)->getResult(0);
  result.setType(x.getType());
  return result;
}

Value GpuEmitter::combineAll(const NestTotal &total, Values values) {
  while (values.size() > 1) {
    Values next;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      next.push_back(combine(total, values[i], values[i + 1]));
    if (values.size() % 2)
      next.push_back(values.back());
    values = next;
  }
  return values.front();
}

Value GpuEmitter::widen(const NestTotal &total, Value value) {
  Type type = getWideType(total);
  return value.getType() == type
             ? value
             : arith::ExtFOp::create(b, loc, type, value).getResult();
}

Value GpuEmitter::narrow(const NestTotal &total, Value value) {
  Type type = getSumType(total);
  return value.getType() == type
             ? value
             : arith::TruncFOp::create(b, loc, type, value).getResult();
}

/// Adds the partial sums of a block of steps to the sums of earlier blocks.
GpuEmitter::Values GpuEmitter::addBlock(const KernelNest &nest,
                                        const Values &wide,
                                        ArrayRef<Value> partials) {
  SmallVector<NestTotal> totals = totalsOf(nest);
  size_t count = partials.size() / totals.size();
  Values sums;
  for (auto [i, total] : llvm::enumerate(totals)) {
    Value block = combineAll(total, Values(partials.slice(i * count, count)));
    sums.push_back(combine(total, wide[i], widen(total, block)));
  }
  return sums;
}

/// The sum over the threads of a warp, in each of them.
Value GpuEmitter::addWarp(const NestTotal &total, Value value) {
  for (int64_t bit = kWarp / 2; bit > 0; bit /= 2) {
    Value other =
        gpu::ShuffleOp::create(b, loc, value, bit, kWarp, gpu::ShuffleMode::XOR)
            .getShuffleResult();
    value = combine(total, value, other);
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
  return combineAll(total, sums);
}

/// The totals of a nest are numbers from here on.
void GpuEmitter::setTotals(const KernelNest &nest, ArrayRef<Value> sums) {
  for (auto [total, output] : llvm::zip(nest.totals, nest.outputs)) {
    if (!total.combiner)
      continue;
    numbers[output.base] = narrow(total, sums.front());
    sums = sums.drop_front();
  }
}
