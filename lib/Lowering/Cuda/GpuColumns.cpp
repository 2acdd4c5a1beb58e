//===- GpuColumns.cpp - Kernels that reduce over rows ---------------------===//
//
// A block takes a tile of columns: threads side by side read neighbouring
// columns, threads below each other take the rows in turns. Their sums meet in
// the memory of the block.
//
//===----------------------------------------------------------------------===//

#include "GpuEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace weft;

int64_t weft::threadsOfColumn(int64_t rows) { return rows <= 512 ? 8 : 32; }

void GpuEmitter::emitColumns() {
  chunk = 1;
  int64_t columns = shape.getLaneSize();
  int64_t rows = threadsOfColumn(shape.getCount(DimRole::Inner));
  int64_t tiles = llvm::divideCeil(columns, kTileColumns);
  setLaunch(shape.getCount(DimRole::Outer) * tiles, kTileColumns, rows);
  Value block = blockId(), row = threadId(gpu::Dimension::y);
  Value column = threadId(gpu::Dimension::x);
  decode(divide(block, tiles), {DimRole::Outer});
  Value index = add(multiply(remainder(block, tiles), kTileColumns), column);
  Value exists;
  if (columns % kTileColumns != 0)
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
    emitIf(isHere, {}, [&] { return emitChunk(nest, 1, {}); });
  }
}

/// Adds up the rows of each column.
void GpuEmitter::emitColumnPass(const KernelNest &nest, Value row, int64_t rows,
                                Value column, Value exists) {
  auto addRows = [&] {
    return emitSteps(nest, shape.getCount(DimRole::Inner), rows, row,
                     /*partials=*/1, [&](Value step, Values sums) {
                       decode(add(multiply(step, rows), row), {DimRole::Inner});
                       return emitChunk(nest, 1, std::move(sums));
                     });
  };
  Values sums;
  if (exists) {
    for (const NestTotal &total : totalsOf(nest))
      sums.push_back(identity(total, total.getSumType()));
    sums = emitIf(exists, sums, [&] {
      Values results;
      for (auto [total, sum] : llvm::zip(totalsOf(nest), addRows()))
        results.push_back(narrow(total, sum));
      return results;
    });
  } else {
    sums = addRows();
  }
  for (auto [total, sum] : llvm::zip(totalsOf(nest), sums))
    sum = addColumn(total, sum, row, column, rows);
  setTotals(nest, sums);
}

/// The sum over the threads of a column, in each of them.
Value GpuEmitter::addColumn(const NestTotal &total, Value sum, Value row,
                            Value column, int64_t rows) {
  Value &shared = columnBuffers[sum.getType()];
  if (!shared)
    shared = sharedBuffer({rows, kTileColumns}, sum.getType());
  else
    meetBlock();
  memref::StoreOp::create(b, loc, sum, shared,
                          ValueRange{asIndex(row), asIndex(column)});
  meetBlock();
  Values sums;
  for (int64_t i = 0; i < rows; ++i)
    sums.push_back(memref::LoadOp::create(
        b, loc, shared, ValueRange{asIndex(constant(i)), asIndex(column)}));
  return total.combineAll(b, sums);
}
