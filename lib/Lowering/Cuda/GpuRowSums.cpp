//===- GpuRowSums.cpp - Kernels of rows that also add up rows -------------===//
//
// A block works on the rows of a group in turn: each of its warps on every
// eighth row, or all of it on one. A thread has the same elements of each row
// and adds them up in registers. Then the warps add their totals in a fixed
// order, and the block writes the sums of its group.
//
//===----------------------------------------------------------------------===//

#include "GpuEmitter.h"
#include "weft/Analysis/RowSums.h"
#include "weft/Base/CountText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace weft;

int64_t GpuEmitter::getRowSize() const {
  return shape.getCount(DimRole::Inner) * shape.getLaneSize();
}

/// Whether a block can add up the rows of a group.
LogicalResult GpuEmitter::checkSums() {
  const int64_t rows = shape.getSummedRows();
  const int64_t most = getMostSummedRows(getRowSize());
  if (rows > most)
    return source.emitOpError("expects sums over at most ")
           << countText(most, "row") << " of "
           << countText(getRowSize(), "element") << ", but got " << rows;
  for (const KernelNest &nest : kernel.getNests())
    for (const NestTotal &total : nest.totals)
      if (total.isOverRows && !total.getSumType().isF32())
        return linalg::GenericOp(nest.op).emitOpError(
                   "expects sums over rows in 'f32', but got ")
               << total.getSumType();
  return success();
}

void GpuEmitter::emitSummedRows() {
  chunk = kRowChunk;
  const int64_t threads = getRowThreads(getRowSize());
  const int64_t together = getRowsAtOnce(getRowSize());
  const int64_t rows = shape.getSummedRows();
  setLaunch(shape.getCount(DimRole::Outer) / rows, threads, together);
  Value thread = threadId(gpu::Dimension::x);
  Value first = together == 1 ? constant(0) : threadId(gpu::Dimension::y);
  addRowTemporaries(threads);
  addRowTotals(threads);
  SmallVector<unsigned> outer, summed;
  for (unsigned d = indices.size(); d-- > 0;)
    if (shape.getRole(d) == DimRole::Outer)
      (llvm::is_contained(shape.getSums(), d) ? summed : outer).push_back(d);
  decode(blockId(), outer);
  auto addRow = [&](Value step, Values none) {
    decode(add(multiply(step, together), first), summed);
    emitRowNests(thread, threads);
    // The next row uses the same memory of the block.
    if (threads != kWarp)
      meetBlock();
    return none;
  };
  if (rows >= together)
    emitLoop(constant(0), constant(rows / together), {}, addRow);
  if (rows % together != 0)
    emitIf(isLess(first, constant(rows % together)), {},
           [&] { return addRow(constant(rows / together), {}); });
  if (together != 1)
    addRowsOfWarps(thread, first, together);
  writeRowSums(thread, first, threads, together);
}

/// The totals of a thread: one for each element that it takes of a row.
void GpuEmitter::addRowTotals(int64_t threads) {
  int64_t steps = llvm::divideCeil(getRowChunks(), threads);
  auto type = MemRefType::get({steps * chunk}, b.getF32Type());
  for (const KernelNest &nest : kernel.getNests())
    for (auto [total, output] : llvm::zip(nest.totals, nest.outputs)) {
      if (!total.isOverRows)
        continue;
      Value buffer = memref::AllocaOp::create(b, loc, type);
      Value zero = identity(total, b.getF32Type());
      for (int64_t i = 0; i < steps * chunk; ++i)
        memref::StoreOp::create(b, loc, zero, buffer, asIndex(constant(i)));
      rowTotals[output.base] = {total, buffer};
    }
}

/// Adds the elements of a chunk to the totals of the thread.
void GpuEmitter::addToRowTotals(const KernelNest &nest, int64_t count) {
  for (auto [total, output] : llvm::zip(nest.totals, nest.outputs)) {
    if (!total.isOverRows)
      continue;
    Value buffer = rowTotals[output.base].second;
    for (int64_t lane = 0; lane < count; ++lane) {
      Value place = asIndex(add(slot, constant(lane)));
      Value sum = memref::LoadOp::create(b, loc, buffer, place);
      Value element = getValue(nest, total.getElement(), lane);
      memref::StoreOp::create(b, loc, total.combine(b, sum, element), buffer,
                              place);
    }
  }
}

/// Runs `body` for the chunks of a row that the thread takes. The warps of a
/// block take them in turns.
void GpuEmitter::emitOwnChunks(Value thread, Value warp, int64_t threads,
                               int64_t together,
                               function_ref<void(Value item)> body) {
  int64_t steps = llvm::divideCeil(getRowChunks(), threads);
  for (int64_t step = 0; step < steps; ++step) {
    auto own = [&]() -> Values {
      slot = constant(step * chunk);
      Value item = add(constant(step * threads), thread);
      auto run = [&]() -> Values {
        body(item);
        return {};
      };
      if ((step + 1) * threads <= getRowChunks())
        return run();
      return emitIf(isLess(item, constant(getRowChunks())), {}, run);
    };
    if (together == 1) {
      own();
      continue;
    }
    Value isOwn = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, warp,
                                        constant(step % together));
    emitIf(isOwn, {}, own);
  }
  slot = nullptr;
}

/// Adds the totals of the warps, one sum after the other in the same memory.
/// Element i of each chunk lies with its like: neighbouring threads read and
/// write neighbouring words.
void GpuEmitter::addRowsOfWarps(Value thread, Value warp, int64_t warps) {
  const int64_t chunks = getRowChunks();
  Value shared = sharedBuffer({warps, chunk, chunks}, b.getF32Type());
  auto place = [&](Value from, int64_t lane, Value item) {
    return Values{asIndex(from), asIndex(constant(lane)), asIndex(item)};
  };
  bool isFirst = true;
  for (auto &[base, entry] : rowTotals) {
    const NestTotal &total = entry.first;
    Value buffer = entry.second;
    if (!isFirst)
      meetBlock();
    isFirst = false;
    auto element = [&](int64_t lane) {
      return asIndex(add(slot, constant(lane)));
    };
    emitOwnChunks(thread, warp, kWarp, /*together=*/1, [&](Value item) {
      for (int64_t lane = 0; lane < chunk; ++lane)
        memref::StoreOp::create(
            b, loc, memref::LoadOp::create(b, loc, buffer, element(lane)),
            shared, place(warp, lane, item));
    });
    meetBlock();
    emitOwnChunks(thread, warp, kWarp, warps, [&](Value item) {
      for (int64_t lane = 0; lane < chunk; ++lane) {
        Values sums;
        for (int64_t i = 0; i < warps; ++i)
          sums.push_back(memref::LoadOp::create(
              b, loc, shared, place(constant(i), lane, item)));
        memref::StoreOp::create(b, loc, total.combineAll(b, sums), buffer,
                                element(lane));
      }
    });
  }
}

/// The nests behind the rows, for the elements that the thread has summed up.
void GpuEmitter::writeRowSums(Value thread, Value warp, int64_t threads,
                              int64_t together) {
  for (auto &[base, entry] : rowTotals)
    rowBuffers[base] = entry.second;
  for (const KernelNest &nest : kernel.getNests()) {
    if (nest.level != NestLevel::End)
      continue;
    emitValues(nest, /*outer=*/true);
    emitOwnChunks(thread, warp, threads, together, [&](Value item) {
      decodeRowChunk(item);
      emitPiece(nest, {});
    });
  }
}
