//===- KernelColumns.cpp - Kernels that reduce over rows ------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft {

/// Rows that a column kernel adds up before it adds them to the total.
static constexpr int64_t kRowBlock = 64;

void KernelEmitter::emitColumns() {
  int64_t columns = kernel.getLaneSize(), tile = kernel.getTile();
  Value tiles = constant(llvm::divideCeil(columns, tile));
  emitFor(begin, end, 1, [&](Value part) {
    enter(ValueDepth::Outer);
    decode(arith::DivUIOp::create(b, loc, part, tiles), DimRole::Outer);
    Value number = arith::RemUIOp::create(b, loc, part, tiles);
    Value first = arith::MulIOp::create(b, loc, number, constant(tile));
    Value last = arith::AddIOp::create(b, loc, first, constant(tile));
    last = arith::MinSIOp::create(b, loc, last, constant(columns));
    for (const KernelNest &nest : kernel.getNests()) {
      if (nest.level == NestLevel::Outer)
        emitOuterNest(nest);
      else if (nest.level == NestLevel::Full)
        emitColumnTile(nest, first, last);
      else
        emitColumnEnd(nest, first, last);
    }
  });
}

/// Sets the sums of a tile to what its totals start from.
void KernelEmitter::fillTile(const KernelNest &nest,
                             llvm::ArrayRef<Value> sums) {
  llvm::SmallVector<NestTotal> totals = totalsOf(nest);
  emitFor(constant(0), constant(kernel.getTile()), kLanes, [&](Value index) {
    for (auto [total, sum] : llvm::zip(totals, sums))
      storeLanes(identity(total), offset(sum, getSumType(total), index));
  });
}

/// Adds the sums of a block of rows to the totals.
void KernelEmitter::addTile(const KernelNest &nest, llvm::ArrayRef<Value> from,
                            llvm::ArrayRef<Value> to) {
  llvm::SmallVector<NestTotal> totals = totalsOf(nest);
  emitFor(constant(0), constant(kernel.getTile()), kLanes, [&](Value index) {
    for (auto [i, total] : llvm::enumerate(totals)) {
      Type type = getSumType(total);
      Value pointer = offset(to[i], type, index);
      Value sum = combine(total, loadLanes(pointer, type),
                          loadLanes(offset(from[i], type, index), type));
      storeLanes(sum, pointer);
    }
  });
}

/// Adds up rows in blocks, blocks to the total, in buffers on the stack.
void KernelEmitter::emitColumnTile(const KernelNest &nest, Value first,
                                   Value last) {
  int64_t rows = kernel.getCount(DimRole::Inner);
  Values sums, blocks;
  for (auto [total, output] : llvm::zip(nest.totals, nest.outputs)) {
    if (!total.combiner)
      continue;
    sums.push_back(scratch(getSumType(total), kernel.getTile()));
    stack[output.base] = sums.back();
    if (rows > kRowBlock)
      blocks.push_back(scratch(getSumType(total), kernel.getTile()));
  }
  emitValues(nest, ValueDepth::Outer);
  fillTile(nest, sums);
  if (blocks.empty())
    return emitFor(constant(0), constant(rows), 1, [&](Value row) {
      emitColumnRow(nest, row, first, last, sums);
    });
  emitFor(constant(0), constant(rows), kRowBlock, [&](Value start) {
    fillTile(nest, blocks);
    Value stop = arith::AddIOp::create(b, loc, start, constant(kRowBlock));
    stop = arith::MinSIOp::create(b, loc, stop, constant(rows));
    emitFor(start, stop, 1,
            [&](Value row) { emitColumnRow(nest, row, first, last, blocks); });
    addTile(nest, blocks, sums);
  });
}

/// One row of a tile: its elements are added to the sums of their columns.
void KernelEmitter::emitColumnRow(const KernelNest &nest, Value row,
                                  Value first, Value last,
                                  llvm::ArrayRef<Value> sums) {
  enter(ValueDepth::Inner);
  decode(row, DimRole::Inner);
  emitValues(nest, ValueDepth::Inner);
  bool aligned = kernel.getLaneSize() % kLanes == 0;
  emitLanes(first, last, aligned, [&](Value column) {
    emitValues(nest, ValueDepth::Lane);
    Value index = arith::SubIOp::create(b, loc, column, first);
    llvm::SmallVector<NestTotal> totals = totalsOf(nest);
    for (auto [total, buffer] : llvm::zip(totals, sums)) {
      Type type = getSumType(total);
      Value to = offset(buffer, type, index);
      storeLanes(combine(total, loadLanes(to, type), getSummand(nest, total)),
                 to);
    }
    emitStores(nest);
  });
}

/// What is computed from the totals of the columns.
void KernelEmitter::emitColumnEnd(const KernelNest &nest, Value first,
                                  Value last) {
  bool aligned = kernel.getLaneSize() % kLanes == 0;
  emitValues(nest, ValueDepth::Outer);
  enter(ValueDepth::Inner);
  emitLanes(first, last, aligned, [&](Value column) {
    tileIndex = arith::SubIOp::create(b, loc, column, first);
    emitValues(nest, ValueDepth::Lane);
    emitStores(nest);
    tileIndex = nullptr;
  });
}

} // namespace weft
