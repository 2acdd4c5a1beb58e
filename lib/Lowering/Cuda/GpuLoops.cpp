//===- GpuLoops.cpp - The steps of a thread through a kernel --------------===//
//
// The threads of a row (or of a column) take its chunks in turns. A thread adds
// up at most kBlockSteps of them in the type of the sum, and such blocks in
// f64: the error of a sum does not grow with the row.
//
//===----------------------------------------------------------------------===//

#include "GpuEmitter.h"
#include "weft/Lowering/Linalg/LoopHints.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace weft;

/// Additions in a row to each partial sum.
static constexpr int64_t kBlockSteps = 16;

Value GpuEmitter::threadId(gpu::Dimension dimension) {
  Value id = gpu::ThreadIdOp::create(b, loc, dimension);
  return arith::IndexCastOp::create(b, loc, indexType, id);
}

Value GpuEmitter::blockId() {
  Value id = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  return arith::IndexCastOp::create(b, loc, indexType, id);
}

/// The results of `body`, or `otherwise`.
GpuEmitter::Values GpuEmitter::emitIf(Value condition, const Values &otherwise,
                                      function_ref<Values()> body) {
  auto types = TypeRange(ValueRange(otherwise));
  auto branch = scf::IfOp::create(b, loc, types, condition,
                                  /*withElseRegion=*/!otherwise.empty());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Values results = body();
  if (otherwise.empty())
    return {};
  scf::YieldOp::create(b, loc, results);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, otherwise);
  return Values(branch.getResults());
}

/// A loop that hands `args` on from step to step; returns the last ones.
GpuEmitter::Values
GpuEmitter::emitLoop(Value from, Value to, const Values &args,
                     function_ref<Values(Value, Values)> body, int64_t step,
                     bool unroll) {
  auto loop = scf::ForOp::create(b, loc, from, to, constant(step), args);
  if (unroll)
    unrollFully(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Values next(loop.getRegionIterArgs());
  next = body(loop.getInductionVar(), next);
  if (!args.empty())
    scf::YieldOp::create(b, loc, next);
  return Values(loop.getResults());
}

/// Runs `body` for the items thread, thread + threads, ... below `count` and
/// returns what each total of the nest has added up, in its wide type if that
/// took several blocks. Partial sums of columns stay apart.
GpuEmitter::Values
GpuEmitter::emitSteps(const KernelNest &nest, int64_t count, int64_t threads,
                      Value thread, int64_t partials,
                      function_ref<Values(Value, Values)> body,
                      bool areColumns) {
  int64_t steps = count / threads, rest = count % threads;
  auto last = [&](const Values &sums) {
    if (rest == 0)
      return sums;
    return emitIf(isLess(thread, constant(rest)), sums,
                  [&] { return body(constant(steps), sums); });
  };
  bool isShort = steps + (rest != 0) <= kBlockSteps;
  if (isShort || totalsOf(nest).empty()) {
    Values sums = identities(nest, partials);
    if (steps != 0)
      sums = emitLoop(constant(0), constant(steps), sums, body, /*step=*/1,
                      steps <= kUnrolledSteps);
    return joinPartials(nest, last(sums), areColumns);
  }
  Values wide = emitBlocks(nest, steps, partials, body, areColumns);
  if (rest == 0)
    return wide;
  return addBlock(
      nest, wide,
      joinPartials(nest, last(identities(nest, partials)), areColumns));
}

/// Blocks of steps, added up in the wide type.
GpuEmitter::Values
GpuEmitter::emitBlocks(const KernelNest &nest, int64_t steps, int64_t partials,
                       function_ref<Values(Value, Values)> body,
                       bool areColumns) {
  Values wide;
  for (const NestTotal &total : totalsOf(nest))
    wide.append(areColumns ? partials : 1,
                identity(total, total.getWideType()));
  return emitLoop(
      constant(0), constant(steps), wide,
      [&](Value start, Values sums) {
        Value stop = add(start, constant(kBlockSteps));
        if (steps % kBlockSteps != 0)
          stop = arith::MinSIOp::create(b, loc, stop, constant(steps));
        Values own = emitLoop(start, stop, identities(nest, partials), body);
        return addBlock(nest, sums, joinPartials(nest, own, areColumns));
      },
      kBlockSteps);
}
