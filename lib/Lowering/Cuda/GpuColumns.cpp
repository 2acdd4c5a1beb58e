//===- GpuColumns.cpp - Kernels that reduce over rows ---------------------===//
//
// A block takes a tile of columns: threads side by side read neighbouring
// columns, several each, and threads below each other take the rows in turns.
// Their sums meet in the memory of the block.
//
//===----------------------------------------------------------------------===//

#include "GpuEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace weft;

/// Wider accesses leave at least this many blocks.
static constexpr int64_t kLeastBlocks = 256;

int64_t weft::threadsOfColumn(const KernelShape &shape) {
  const int64_t tiles = shape.getCount(DimRole::Outer) *
                        llvm::divideCeil(shape.getLaneSize(), kColumnThreads);
  const bool isShort = shape.getCount(DimRole::Inner) <= 512;
  return isShort || tiles >= 4 * kLeastBlocks ? 8 : 32;
}

/// Columns that a thread takes: as many as one access of 16 bytes to the rows,
/// if that leaves enough blocks.
int64_t GpuEmitter::chooseColumnChunk() const {
  const int64_t columns = shape.getLaneSize();
  int64_t chunk = chooseChunk();
  auto countBlocks = [&] {
    return shape.getCount(DimRole::Outer) *
           llvm::divideCeil(columns, kColumnThreads * chunk);
  };
  while (chunk > 1 && (columns % chunk != 0 || countBlocks() < kLeastBlocks))
    chunk /= 2;
  return chunk;
}

void GpuEmitter::emitColumns() {
  const int64_t columns = shape.getLaneSize();
  const int64_t outer = shape.getCount(DimRole::Outer);
  const int64_t rows = threadsOfColumn(shape);
  chunk = chooseColumnChunk();
  const int64_t tile = kColumnThreads * chunk;
  const int64_t tiles = llvm::divideCeil(columns, tile);
  setLaunch(outer * tiles, kColumnThreads, rows);
  Value block = blockId(), row = threadId(gpu::Dimension::y);
  Value column = threadId(gpu::Dimension::x);
  decode(divide(block, tiles), {DimRole::Outer});
  Value index =
      add(multiply(remainder(block, tiles), tile), multiply(column, chunk));
  Value exists;
  if (columns % tile != 0)
    exists = isLess(index, constant(columns));
  Value writer =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, row, constant(0));
  for (const KernelNest &nest : kernel.getNests()) {
    indices.back() = index;
    if (nest.level == NestLevel::Outer) {
      emitOuterNest(nest);
      continue;
    }
    emitValues(nest, /*outer=*/true);
    if (nest.level == NestLevel::Full) {
      emitColumnPass(nest, row, rows, column, exists);
      continue;
    }
    Value isHere = writer;
    if (exists)
      isHere = arith::AndIOp::create(b, loc, writer, exists);
    emitIf(isHere, {}, [&] { return emitChunk(nest, chunk, {}); });
  }
}

/// Adds up the rows of each column.
void GpuEmitter::emitColumnPass(const KernelNest &nest, Value row, int64_t rows,
                                Value column, Value exists) {
  auto addRows = [&] {
    return emitSteps(
        nest, shape.getCount(DimRole::Inner), rows, row, /*partials=*/chunk,
        [&](Value step, Values sums) {
          decode(add(multiply(step, rows), row), {DimRole::Inner});
          return emitChunk(nest, chunk, std::move(sums));
        },
        /*areColumns=*/true);
  };
  const SmallVector<NestTotal> totals = totalsOf(nest);
  Values sums;
  if (exists) {
    sums = emitIf(exists, identities(nest, chunk), [&] {
      Values results = addRows();
      for (auto [i, sum] : llvm::enumerate(results))
        sum = narrow(totals[i / chunk], sum);
      return results;
    });
  } else {
    sums = addRows();
  }
  for (auto [i, total] : llvm::enumerate(totals)) {
    auto own = MutableArrayRef(sums).slice(i * chunk, chunk);
    addColumns(total, own, row, column, rows);
  }
  ArrayRef<Value> rest = sums;
  for (auto [total, output] : llvm::zip(nest.totals, nest.outputs)) {
    if (!total.combiner)
      continue;
    Values &results = columnTotals[output.base];
    for (Value sum : rest.take_front(chunk))
      results.push_back(narrow(total, sum));
    rest = rest.drop_front(chunk);
  }
}

/// The sums over the threads of each column, in each of them.
void GpuEmitter::addColumns(const NestTotal &total, MutableArrayRef<Value> sums,
                            Value row, Value column, int64_t rows) {
  Value &shared = columnBuffers[sums.front().getType()];
  if (!shared)
    shared =
        sharedBuffer({rows, chunk, kColumnThreads}, sums.front().getType());
  else
    meetBlock();
  auto place = [&](Value from, int64_t lane) {
    return Values{asIndex(from), asIndex(constant(lane)), asIndex(column)};
  };
  for (auto [lane, sum] : llvm::enumerate(sums))
    memref::StoreOp::create(b, loc, sum, shared, place(row, lane));
  meetBlock();
  for (auto [lane, sum] : llvm::enumerate(sums)) {
    Values parts;
    for (int64_t i = 0; i < rows; ++i)
      parts.push_back(
          memref::LoadOp::create(b, loc, shared, place(constant(i), lane)));
    sum = total.combineAll(b, parts);
  }
}
