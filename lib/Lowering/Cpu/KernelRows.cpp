//===- KernelRows.cpp - Kernels that work row by row ----------------------===//
//
// A pass over a row adds up blocks of at most 32 chunks of lanes (RowOrder) in
// the type of the sum, and the blocks in f64: the error of a sum does not grow
// with the row.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft;

/// Partial sums of a block, for parallel additions.
static constexpr int64_t kPartials = 4;

void KernelEmitter::emitRows() {
  for (const KernelNest &nest : kernel.getNests())
    for (const NestOperand &output : nest.outputs)
      if (!isa<BlockArgument>(output.base) &&
          shape.getDepth(output.access) == ValueDepth::Lane)
        stack[output.base] =
            scratch(getElementTypeOrSelf(output.base.getType()),
                    shape.getCount(DimRole::Inner) * shape.getLaneSize());
  emitFor(begin, end, 1, [&](Value row) { emitRow(row); });
}

void KernelEmitter::emitRow(Value row) {
  enter(ValueDepth::Outer);
  decode(row, DimRole::Outer);
  for (const KernelNest &nest : kernel.getNests()) {
    if (nest.level == NestLevel::Outer)
      emitOuterNest(nest);
    else
      emitRowPass(nest);
  }
}

/// One pass over the inner dimensions of a row.
void KernelEmitter::emitRowPass(const KernelNest &nest) {
  int64_t inner = shape.getCount(DimRole::Inner);
  int64_t chunks = llvm::divideCeil(shape.getLaneSize(), kLanes);
  SmallVector<NestTotal> totals = totalsOf(nest);
  emitValues(nest, ValueDepth::Outer);
  // Before the pass stores anything: it may do so in place.
  for (auto [total, output] : llvm::zip(nest.totals, nest.outputs))
    if (picks.contains(total.combiner))
      numbers[output.base] = emitPick(nest, total);
  const int64_t block = RowOrder::get(shape).getBlockChunks();
  Values sums;
  int64_t partials = 1;
  if (totals.empty() || block == 0) {
    partials = std::min(kPartials, inner * chunks);
    sums = emitRowBlock(nest, constant(0), constant(inner),
                        identities(totals, partials));
  } else if (chunks <= block) {
    sums = emitInnerBlocks(nest, block / chunks);
  } else {
    sums = emitInner(
        nest, constant(0), constant(inner), wideIdentities(totals),
        [&](Values wide) { return emitLaneBlocks(nest, block, wide); });
  }
  unsigned first = 0;
  for (auto [total, output] : llvm::zip(nest.totals, nest.outputs)) {
    if (!total.combiner || picks.contains(total.combiner))
      continue;
    numbers[output.base] =
        reduceLanes(total, ArrayRef<Value>(sums).slice(first, partials));
    first += partials;
  }
}

/// Runs `body` for the steps [from, to) of the inner loops.
KernelEmitter::Values
KernelEmitter::emitInner(const KernelNest &nest, Value from, Value to,
                         const Values &args,
                         function_ref<Values(Values)> body) {
  if (shape.getCount(DimRole::Inner) == 1) {
    enter(ValueDepth::Inner);
    emitValues(nest, ValueDepth::Inner);
    return body(args);
  }
  return emitLoop(from, to, 1, args, [&](Value step, Values next) {
    enter(ValueDepth::Inner);
    decode(step, DimRole::Inner);
    emitValues(nest, ValueDepth::Inner);
    return body(next);
  });
}

/// Adds the lanes of the inner steps [from, to) to partial sums that take
/// turns: the one that waits longest comes first.
KernelEmitter::Values KernelEmitter::emitRowBlock(const KernelNest &nest,
                                                  Value from, Value to,
                                                  const Values &sums) {
  int64_t size = shape.getLaneSize(), whole = size / kLanes * kLanes;
  return emitInner(nest, from, to, sums, [&](Values args) {
    if (whole != 0)
      args = emitRowLanes(nest, constant(0), constant(whole), args);
    return whole == size ? args : emitRowTail(nest, args);
  });
}

/// Blocks of `steps` inner steps, for short lanes.
KernelEmitter::Values KernelEmitter::emitInnerBlocks(const KernelNest &nest,
                                                     int64_t steps) {
  SmallVector<NestTotal> totals = totalsOf(nest);
  int64_t inner = shape.getCount(DimRole::Inner);
  return emitLoop(
      constant(0), constant(inner), steps, wideIdentities(totals),
      [&](Value start, Values wide) {
        Value stop = blockEnd(start, steps, inner);
        return addBlock(
            nest, wide,
            emitRowBlock(nest, start, stop, identities(totals, kPartials)));
      });
}

/// The lanes of one inner step in blocks of `chunks`.
KernelEmitter::Values KernelEmitter::emitLaneBlocks(const KernelNest &nest,
                                                    int64_t chunks,
                                                    Values wide) {
  SmallVector<NestTotal> totals = totalsOf(nest);
  int64_t size = shape.getLaneSize(), whole = size / kLanes * kLanes;
  int64_t step = chunks * kLanes;
  wide = emitLoop(
      constant(0), constant(whole), step, wide, [&](Value start, Values args) {
        Value stop = blockEnd(start, step, whole);
        return addBlock(
            nest, args,
            emitRowLanes(nest, start, stop, identities(totals, kPartials)));
      });
  if (whole == size)
    return wide;
  return addBlock(nest, wide, emitRowTail(nest, identities(totals, 1)));
}

/// Where the block that begins at `start` ends, at most at `limit`.
Value KernelEmitter::blockEnd(Value start, int64_t step, int64_t limit) {
  Value stop = arith::AddIOp::create(b, loc, start, constant(step));
  if (limit % step == 0)
    return stop;
  return arith::MinSIOp::create(b, loc, stop, constant(limit));
}

/// One chunk of lanes; returns the partial sums after it.
KernelEmitter::Values KernelEmitter::emitRowChunk(const KernelNest &nest,
                                                  Value index, Values sums) {
  enter(ValueDepth::Lane);
  indices.back() = index;
  SmallVector<NestTotal> totals = totalsOf(nest);
  emitValues(nest, ValueDepth::Lane);
  for (auto [i, total] : llvm::enumerate(totals)) {
    size_t partials = sums.size() / totals.size();
    Value *own = sums.data() + i * partials;
    Value sum = total.combine(b, own[0], getSummand(nest, total));
    if (mask)
      sum = arith::SelectOp::create(b, loc, mask, sum, own[0]);
    std::rotate(own, own + 1, own + partials);
    own[partials - 1] = sum;
  }
  emitStores(nest);
  indices.back() = nullptr;
  return sums;
}

/// The whole chunks of the lanes [from, to).
KernelEmitter::Values KernelEmitter::emitRowLanes(const KernelNest &nest,
                                                  Value from, Value to,
                                                  const Values &sums) {
  // As many chunks as partial sums: whole rows of them would be code that is
  // long to make and no faster.
  return emitChunks(
      nest, from, to, sums,
      [&](Value index, Values args) {
        return emitRowChunk(nest, index, std::move(args));
      },
      sums.empty() ? 1 : kPartials);
}

/// The lanes that are left after the whole chunks.
KernelEmitter::Values KernelEmitter::emitRowTail(const KernelNest &nest,
                                                 Values sums) {
  int64_t size = shape.getLaneSize(), whole = size / kLanes * kLanes;
  mask = tailMask(constant(size - whole));
  startDraws(nest, constant(whole));
  sums = emitRowChunk(nest, constant(whole), std::move(sums));
  mask = nullptr;
  return sums;
}
