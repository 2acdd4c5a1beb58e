//===- GpuSoftmax.cpp - Rows with a maximum and a sum of exponentials -----===//
//
// A kernel with the sum of e^(x - max) over long rows finds both in one pass
// (Milakov and Gimelshein 2018): a thread keeps the maximum so far, and scales
// its sum when the maximum grows. Exponents are to base 2; f16 needs one fused
// multiply-add for each. An element at the index of a row is not searched.
//
//===----------------------------------------------------------------------===//

#include "GpuEmitter.h"
#include "weft/Lowering/Linalg/Picks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace weft;

/// The maximum of no elements: a number, so that no difference of maxima is
/// NaN.
static constexpr double kLeastMaximum = std::numeric_limits<float>::lowest();
/// The same where -y log2(e) has to be finite; below every number of f16.
static constexpr double kLeastLowMaximum = -1e38;
/// Chunks that a thread loads before it uses the first.
static constexpr int64_t kChunksInFlight = 2;
/// Steps whose terms are added in f32; sums of more steps are f64.
static constexpr int64_t kSumSteps = 16;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// 2^x, one instruction; results that are no normal numbers are 0.
static Value emitExp2(OpBuilder &b, Location loc, Value x) {
  auto name = b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32");
  return LLVM::CallIntrinsicOp::create(b, loc, b.getF32Type(), name,
                                       ValueRange{x})
      .getResults();
}

static Value emitNumber(OpBuilder &b, Location loc, double value) {
  return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
}

/// The number that all e^(x - y) of a row share: y, or if `isLow` -y log2(e).
Value GpuEmitter::emitExponentBase(Value y, bool isLow) {
  if (!isLow)
    return y;
  return arith::MulFOp::create(b, loc, y,
                               emitNumber(b, loc, -llvm::numbers::log2ef));
}

/// e^(x - y), from the base of y. The short form for low elements rounds
/// y log2(e), so e^(y - y) is not 1. Other elements are subtracted first.
Value GpuEmitter::emitExponential(Value x, Value base, bool isLow) {
  Value factor = emitNumber(b, loc, llvm::numbers::log2ef);
  if (isLow)
    return emitExp2(b, loc, LLVM::FMAOp::create(b, loc, x, factor, base));
  Value difference = arith::SubFOp::create(b, loc, x, base);
  return emitExp2(b, loc, arith::MulFOp::create(b, loc, difference, factor));
}

/// Scales a sum in relation to one maximum to be in relation to a larger one.
Value GpuEmitter::emitSumFactor(Value before, Value after) {
  const bool isLow = softmax.isLow;
  return emitExponential(before, emitExponentBase(after, isLow), isLow);
}

/// Computes a value of the nest, with the values that it depends on, for
/// `lanes` elements from the current indices on.
void GpuEmitter::emitLanes(const KernelNest &nest, Value value) {
  laneValues.clear();
  llvm::DenseSet<Value> needed = {value};
  for (Operation &op : llvm::reverse(nest.getBody().without_terminator()))
    if (needed.contains(op.getResult(0)))
      needed.insert(op.operand_begin(), op.operand_end());
  auto isHere = [&](Value each) {
    return needed.contains(each) &&
           nest.depths.lookup(each) != ValueDepth::Outer;
  };
  for (auto [i, input] : llvm::enumerate(nest.inputs))
    if (Value argument = nest.getBody().getArgument(i); isHere(argument))
      laneValues[argument] = load(input);
  for (Operation &op : nest.getBody().without_terminator())
    if (!isa<arith::ConstantOp>(op) && isHere(op.getResult(0)))
      evaluate(nest, &op);
}

/// Whether an element of the row has the index.
Value GpuEmitter::isInRow(Value index) {
  Value size = arith::ConstantOp::create(
      b, loc, b.getIntegerAttr(index.getType(), shape.getLaneSize()));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index, size);
}

/// `index` in the type of indices.
Value GpuEmitter::asLane(Value index) {
  if (index.getType() == indexType)
    return index;
  if (index.getType().getIntOrFloatBitWidth() >
      indexType.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(b, loc, indexType, index);
  return arith::ExtSIOp::create(b, loc, indexType, index);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Runs `body` for the chunks of a row, kChunksInFlight of them at once. Each
/// call has the first elements of its chunks, and the elements of a chunk.
GpuEmitter::Values GpuEmitter::emitChunks(Value thread, int64_t threads,
                                          Values state, ChunkBody body,
                                          StepLoop loop) {
  int64_t whole = shape.getLaneSize() / chunk, steps = whole / threads;
  auto first = [&](Value step, int64_t more) {
    Value item = add(multiply(step, threads), thread);
    return multiply(add(item, constant(more * threads)), chunk);
  };
  auto group = [&](Value step, int64_t count, Values now) {
    Values firsts;
    for (int64_t i = 0; i < count; ++i)
      firsts.push_back(first(step, i));
    return body(firsts, chunk, std::move(now));
  };
  if (int64_t groups = steps / kChunksInFlight)
    state = loop(
        groups,
        [&](Value number, Values now) {
          return group(multiply(number, kChunksInFlight), kChunksInFlight,
                       std::move(now));
        },
        state);
  if (int64_t more = steps % kChunksInFlight)
    state = group(constant(steps - more), more, state);
  if (int64_t rest = whole % threads)
    state = emitIf(isLess(thread, constant(rest)), state,
                   [&] { return group(constant(steps), 1, state); });
  // Elements behind the last chunk, one for each thread.
  if (int64_t tail = shape.getLaneSize() % chunk)
    state = emitIf(isLess(thread, constant(tail)), state, [&] {
      return body({add(thread, constant(whole * chunk))}, 1, state);
    });
  return state;
}

/// The thread that has the element at an index, in a walk of emitChunks.
Value GpuEmitter::ownerOf(Value index, int64_t threads) {
  int64_t end = shape.getLaneSize() / chunk * chunk;
  Value inChunk = remainder(divide(index, chunk), threads);
  if (end == shape.getLaneSize())
    return inChunk;
  Value inTail = arith::SubIOp::create(b, loc, index, constant(end));
  return arith::SelectOp::create(b, loc, isLess(index, constant(end)), inChunk,
                                 inTail);
}

//===----------------------------------------------------------------------===//
// Maximum and sum
//===----------------------------------------------------------------------===//

/// The maximum, and the sum in relation to it, with more elements. `state` is
/// the maximum and the sum before them.
GpuEmitter::Values GpuEmitter::absorb(ArrayRef<Value> firsts, int64_t count,
                                      Values state) {
  const KernelNest &nest = *softmax.maximum;
  const NestTotal &maximum = nest.totals[softmax.total];
  const NestTotal &sum = softmax.sum->totals[0];
  lanes = count;
  Values elements;
  for (Value first : firsts) {
    indices.back() = first;
    emitLanes(nest, maximum.getElement());
    for (int64_t lane = 0; lane < count; ++lane)
      elements.push_back(getValue(nest, maximum.getElement(), lane));
  }
  Value most =
      maximum.combine(b, state[0], maximum.combineAll(b, Values(elements)));
  Value base = emitExponentBase(most, softmax.isLow);
  Values terms;
  for (Value element : elements)
    terms.push_back(emitExponential(element, base, softmax.isLow));
  Value factor = emitExponential(state[0], base, softmax.isLow);
  Value total = LLVM::FMAOp::create(b, loc, state[1], factor,
                                    sum.combineAll(b, std::move(terms)));
  return {most, total};
}

/// Groups of steps; of many steps the sums of blocks are added in f64.
GpuEmitter::Values GpuEmitter::emitSumBlocks(int64_t count, StepBody body,
                                             Values state) {
  if (count <= kSumSteps)
    return emitLoop(constant(0), constant(count), {state[0], state[1]}, body);
  Type wide = b.getF64Type();
  auto asWide = [&](Value value) {
    return arith::ExtFOp::create(b, loc, wide, value).getResult();
  };
  Value none = emitNumber(b, loc, 0.0);
  Values results = emitLoop(
      constant(0), constant(count), {state[0], asWide(state[1])},
      [&](Value start, Values now) {
        Value stop = add(start, constant(kSumSteps));
        if (count % kSumSteps != 0)
          stop = arith::MinSIOp::create(b, loc, stop, constant(count));
        Values block = emitLoop(start, stop, {now[0], none}, body);
        Value factor = emitSumFactor(now[0], block[0]);
        Value before = arith::MulFOp::create(b, loc, now[1], asWide(factor));
        Value sum = arith::AddFOp::create(b, loc, before, asWide(block[1]));
        return Values{block[0], sum};
      },
      kSumSteps);
  return {results[0],
          arith::TruncFOp::create(b, loc, b.getF32Type(), results[1])};
}

/// The pass that finds the maximum and the sum of a row.
void GpuEmitter::emitMaximumAndSum(Value thread, int64_t threads) {
  const NestTotal &maximum = softmax.maximum->totals[softmax.total];
  const NestTotal &sum = softmax.sum->totals[0];
  Value least =
      emitNumber(b, loc, softmax.isLow ? kLeastLowMaximum : kLeastMaximum);
  emitValues(*softmax.maximum, /*outer=*/true);
  emitPicks(*softmax.maximum);
  Values own = emitChunks(
      thread, threads, {least, emitNumber(b, loc, 0.0)},
      [&](ArrayRef<Value> firsts, int64_t count, Values state) {
        return absorb(firsts, count, std::move(state));
      },
      [&](int64_t count, StepBody body, Values state) {
        return emitSumBlocks(count, body, state);
      });
  Value most =
      addWarps(maximum, addWarp(maximum, own[0]), thread, threads / kWarp);
  Value factor = emitSumFactor(own[0], most);
  Value total = arith::MulFOp::create(b, loc, own[1], factor);
  total = addWarps(sum, addWarp(sum, total), thread, threads / kWarp);
  numbers[softmax.maximum->outputs[softmax.total].base] = most;
  numbers[softmax.sum->outputs[0].base] = total;
}

/// Reads the totals that are an element of the row.
void GpuEmitter::emitPicks(const KernelNest &nest) {
  for (auto [total, output] : llvm::zip(nest.totals, nest.outputs)) {
    Value picked = getPickedIndex(shape, nest, total);
    if (!picked)
      continue;
    Value index = getValue(nest, picked, 0), exists = isInRow(index);
    Value element = getPickedElement(total);
    lanes = 1;
    indices.back() =
        arith::SelectOp::create(b, loc, exists, asLane(index), constant(0));
    emitLanes(nest, element);
    Value nothing = arith::ConstantOp::create(b, loc, total.start);
    Value found = total.combine(b, nothing, getValue(nest, element, 0));
    numbers[output.base] =
        arith::SelectOp::create(b, loc, exists, found, nothing);
  }
}

/// A pass over a row, or two at once.
void GpuEmitter::emitSoftmaxPass(const KernelNest &nest, Value thread,
                                 int64_t threads) {
  if (&nest == softmax.maximum)
    emitMaximumAndSum(thread, threads);
  else if (&nest != softmax.sum)
    emitWritingPass(nest, thread, threads);
}
