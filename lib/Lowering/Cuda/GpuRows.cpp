//===- GpuRows.cpp - Kernels that work row by row -------------------------===//
//
// A short row is the work of a warp, a long one of a block. Thread t takes the
// chunks t, t + threads, ... of its row in every pass, so that what one pass
// leaves for the next stays with the thread.
//
//===----------------------------------------------------------------------===//

#include "GpuEmitter.h"
#include "weft/Analysis/RowSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace weft;

/// Chunks of a row; none reaches from one step of the inner loops to the next.
int64_t GpuEmitter::getRowChunks() const {
  return shape.getCount(DimRole::Inner) *
         llvm::divideCeil(shape.getLaneSize(), chunk);
}

/// Whether a row is the work of a block.
bool GpuEmitter::isLongRow() const {
  return getRowThreads(getRowSize()) != kWarp;
}

void GpuEmitter::emitRows() {
  findSoftmax();
  chunk = softmax.sum ? chooseChunk() : kRowChunk;
  int64_t rows = shape.getCount(DimRole::Outer);
  int64_t threads = getRowThreads(getRowSize());
  if (threads != kWarp) {
    setLaunch(rows, threads);
    return emitRow(blockId(), threadId(gpu::Dimension::x), threads);
  }
  setLaunch(llvm::divideCeil(rows, kRowsPerBlock), kWarp, kRowsPerBlock);
  Value row =
      add(multiply(blockId(), kRowsPerBlock), threadId(gpu::Dimension::y));
  Value thread = threadId(gpu::Dimension::x);
  if (rows % kRowsPerBlock == 0)
    return emitRow(row, thread, threads);
  emitIf(isLess(row, constant(rows)), {}, [&]() -> Values {
    emitRow(row, thread, threads);
    return {};
  });
}

/// Allocates the temporaries between passes over a row: the elements of one
/// thread.
void GpuEmitter::addRowTemporaries(int64_t threads) {
  int64_t count = llvm::divideCeil(getRowChunks(), threads) * chunk;
  for (const KernelNest &nest : kernel.getNests())
    for (auto [total, output] : llvm::zip(nest.totals, nest.outputs)) {
      if (isa<BlockArgument>(output.base) || total.combiner ||
          shape.getDepth(output.access) != ValueDepth::Lane)
        continue;
      rowBuffers[output.base] = allocateRow(
          count, cast<MemRefType>(output.base.getType()).getElementType());
    }
  keepRows(threads);
}

void GpuEmitter::emitRow(Value row, Value thread, int64_t threads) {
  addRowTemporaries(threads);
  decode(row, {DimRole::Outer});
  emitRowNests(thread, threads);
}

/// All that is computed of a row.
void GpuEmitter::emitRowNests(Value thread, int64_t threads) {
  for (const KernelNest &nest : kernel.getNests()) {
    if (nest.level == NestLevel::End)
      continue;
    if (nest.level != NestLevel::Outer) {
      if (softmax.sum)
        emitSoftmaxPass(nest, thread, threads);
      else
        emitRowPass(nest, thread, threads);
      continue;
    }
    emitOuterNest(nest);
    storeRowResults(nest, thread, threads);
  }
}

/// A barrier of the threads of a row.
void GpuEmitter::meetRow(int64_t threads) {
  if (threads != kWarp)
    return meetBlock();
  NVVM::SyncWarpOp::create(
      b, loc, arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(-1)));
  read.clear();
}

/// Whether a result may lie over what other threads of the row still read.
bool GpuEmitter::mayOverwriteInput(const KernelNest &nest) {
  for (const NestOperand &output : nest.outputs)
    if (isa<BlockArgument>(output.base))
      for (int64_t input : kernel.getInPlaceInputs(output.base))
        if (read.contains(source.getArgument(input)))
          return true;
  return false;
}

/// One thread of the row writes what has one element for it.
void GpuEmitter::storeRowResults(const KernelNest &nest, Value thread,
                                 int64_t threads) {
  if (llvm::none_of(nest.outputs, [](const NestOperand &output) {
        return isa<BlockArgument>(output.base);
      }))
    return;
  if (mayOverwriteInput(nest))
    meetRow(threads);
  Value isWriter = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                         thread, constant(0));
  emitIf(isWriter, {}, [&]() -> Values {
    for (auto [i, output] : llvm::enumerate(nest.outputs))
      if (isa<BlockArgument>(output.base))
        store(output, {getValue(nest, nest.getResult(i), 0)});
    return {};
  });
}

/// Sets the indices to the beginning of a chunk of the row.
void GpuEmitter::decodeRowChunk(Value item) {
  if (shape.getCount(DimRole::Inner) != 1) {
    int64_t perLane = llvm::divideCeil(shape.getLaneSize(), chunk);
    decode(divide(item, perLane), {DimRole::Inner});
    item = remainder(item, perLane);
  } else {
    decode(constant(0), {DimRole::Inner});
  }
  indices.back() = multiply(item, chunk);
}

/// One pass over the elements of a row.
void GpuEmitter::emitRowPass(const KernelNest &nest, Value thread,
                             int64_t threads) {
  emitValues(nest, /*outer=*/true);
  auto addChunk = [&](Value step, Values sums) {
    slot = multiply(step, chunk);
    decodeRowChunk(add(multiply(step, threads), thread));
    return emitPiece(nest, std::move(sums));
  };
  Values sums =
      emitSteps(nest, getRowChunks(), threads, thread, chunk, addChunk);
  slot = nullptr;
  markFilled(nest);
  for (auto [total, sum] : llvm::zip(totalsOf(nest), sums)) {
    sum = addWarp(total, sum);
    if (threads != kWarp)
      sum = addWarps(total, sum, thread, threads / kWarp);
  }
  setTotals(nest, sums);
}
