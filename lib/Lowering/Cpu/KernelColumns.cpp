//===- KernelColumns.cpp - Kernels that reduce over rows ------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft;

/// Rows that a column kernel adds up before it adds them to the total.
static constexpr int64_t kRowBlock = 16;
/// Chunks of a tile that are added at once; their sums stay in registers.
static constexpr int32_t kTileUnroll = 4;

void KernelEmitter::emitColumns() {
  int64_t columns = shape.getLaneSize(), tile = range.tile;
  Value tiles = constant(llvm::divideCeil(columns, tile));
  emitFor(begin, end, 1, [&](Value part) {
    enter(ValueDepth::Outer);
    decode(arith::DivUIOp::create(b, loc, part, tiles), DimRole::Outer);
    Value number = arith::RemUIOp::create(b, loc, part, tiles);
    Value first = arith::MulIOp::create(b, loc, number, constant(tile));
    Value last = arith::AddIOp::create(b, loc, first, constant(tile));
    if (columns % tile != 0)
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

/// Calls `body` with each total, its number and the place of each chunk of a
/// tile.
void KernelEmitter::forEachTileChunk(
    const KernelNest &nest,
    function_ref<void(unsigned, const NestTotal &, Value)> body) {
  SmallVector<NestTotal> totals = totalsOf(nest);
  // Once in a block of rows: written out it would be long, and no faster.
  emitFor(constant(0), constant(range.tile), kLanes, [&](Value index) {
    for (auto [i, total] : llvm::enumerate(totals))
      body(i, total, index);
  });
}

/// Adds the sums of a block of rows to the totals and starts the next block.
void KernelEmitter::addTile(const KernelNest &nest, ArrayRef<Value> blocks,
                            ArrayRef<Value> sums) {
  forEachTileChunk(nest, [&](unsigned i, const NestTotal &total, Value index) {
    Type narrow = total.getSumType(), wide = total.getWideType();
    Value block = offset(blocks[i], narrow, index);
    Value to = offset(sums[i], wide, index);
    Value sum = total.combine(b, loadLanes(to, wide),
                              widen(total, loadLanes(block, narrow)));
    storeLanes(sum, to);
    storeLanes(identity(total, narrow), block);
  });
}

/// Adds up rows in blocks, and the blocks in f64, in buffers on the stack.
void KernelEmitter::emitColumnTile(const KernelNest &nest, Value first,
                                   Value last) {
  int64_t rows = shape.getCount(DimRole::Inner);
  Values sums, blocks;
  for (auto [total, output] : llvm::zip(nest.totals, nest.outputs)) {
    if (!total.combiner)
      continue;
    blocks.push_back(scratch(total.getSumType(), range.tile));
    sums.push_back(scratch(total.getWideType(), range.tile));
    stack[output.base] = blocks.back();
  }
  auto addRows = [&](Value from, Value to) {
    emitFor(from, to, 1,
            [&](Value row) { emitColumnRow(nest, row, first, last, blocks); });
  };
  emitValues(nest, ValueDepth::Outer);
  forEachTileChunk(nest, [&](unsigned i, const NestTotal &total, Value index) {
    for (auto [buffer, type] : {std::pair(blocks[i], total.getSumType()),
                                std::pair(sums[i], total.getWideType())})
      storeLanes(identity(total, type), offset(buffer, type, index));
  });
  if (rows <= kRowBlock)
    return addRows(constant(0), constant(rows));
  emitFor(constant(0), constant(rows), kRowBlock, [&](Value start) {
    addRows(start, blockEnd(start, kRowBlock, rows));
    addTile(nest, blocks, sums);
  });
  forEachTileChunk(nest, [&](unsigned i, const NestTotal &total, Value index) {
    Type narrow = total.getSumType(), wide = total.getWideType();
    Value sum = loadLanes(offset(sums[i], wide, index), wide);
    if (narrow != wide)
      sum = arith::TruncFOp::create(b, loc, lanesOf(narrow), sum);
    storeLanes(sum, offset(blocks[i], narrow, index));
  });
}

/// One row of a tile: its elements are added to the sums of their columns.
void KernelEmitter::emitColumnRow(const KernelNest &nest, Value row,
                                  Value first, Value last,
                                  ArrayRef<Value> sums) {
  enter(ValueDepth::Inner);
  decode(row, DimRole::Inner);
  emitValues(nest, ValueDepth::Inner);
  bool aligned = shape.getLaneSize() % kLanes == 0;
  emitLanes(
      nest, first, last, aligned,
      [&](Value column) {
        emitValues(nest, ValueDepth::Lane);
        Value index = arith::SubIOp::create(b, loc, column, first);
        SmallVector<NestTotal> totals = totalsOf(nest);
        for (auto [total, buffer] : llvm::zip(totals, sums)) {
          Type type = total.getSumType();
          Value to = offset(buffer, type, index);
          storeLanes(
              total.combine(b, loadLanes(to, type), getSummand(nest, total)),
              to);
        }
        emitStores(nest);
      },
      kTileUnroll);
}

/// Emits a nest that reads the totals of the columns.
void KernelEmitter::emitColumnEnd(const KernelNest &nest, Value first,
                                  Value last) {
  bool aligned = shape.getLaneSize() % kLanes == 0;
  emitValues(nest, ValueDepth::Outer);
  enter(ValueDepth::Inner);
  emitLanes(nest, first, last, aligned, [&](Value column) {
    tileIndex = arith::SubIOp::create(b, loc, column, first);
    emitValues(nest, ValueDepth::Lane);
    emitStores(nest);
    tileIndex = nullptr;
  });
}
