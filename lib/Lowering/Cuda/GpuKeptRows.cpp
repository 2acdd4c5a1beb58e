//===- GpuKeptRows.cpp - Rows that stay in registers ----------------------===//
//
// A pass over a row needs the totals of an earlier one, as the variance needs
// the mean. An input that both read is loaded once: the thread keeps its
// elements in an array, whose loops are unrolled, so that it becomes
// registers. Only this thread writes these elements, and where a result lies
// over the input no later pass reads it.
//
//===----------------------------------------------------------------------===//

#include "GpuEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace weft;

/// Registers of 4 bytes that a thread has for kept elements of all inputs and
/// for temporaries of the row: a row of 1024 elements takes 32 of f32, or 16 of
/// f16. LLVM may keep the sum of two inputs in place of both.
static constexpr int64_t kMostKeptRegisters = 64;

/// An array of the thread, at the start of the function: LLVM promotes no
/// others to registers.
Value GpuEmitter::allocateRow(int64_t count, Type element) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  return memref::AllocaOp::create(b, loc, MemRefType::get({count}, element));
}

/// The elements of a chunk, from an array of the thread.
GpuEmitter::Values GpuEmitter::loadSlots(Value buffer) {
  Values elements;
  for (int64_t lane = 0; lane < lanes; ++lane)
    elements.push_back(memref::LoadOp::create(
        b, loc, buffer, asIndex(add(slot, constant(lane)))));
  return elements;
}

void GpuEmitter::storeSlots(Value buffer, ArrayRef<Value> elements) {
  for (auto [lane, element] : llvm::enumerate(elements))
    memref::StoreOp::create(b, loc, element, buffer,
                            asIndex(add(slot, constant(lane))));
}

static bool isSame(const NestOperand &x, const NestOperand &y) {
  return x.base == y.base && x.access == y.access;
}

GpuEmitter::KeptRow *GpuEmitter::findKept(const NestOperand &input) {
  for (KeptRow &row : keptRows)
    if (isSame(row.input, input))
      return &row;
  return nullptr;
}

/// Later passes take the inputs of the nest from registers.
void GpuEmitter::markFilled(const KernelNest &nest) {
  for (auto [i, input] : llvm::enumerate(nest.inputs))
    if (nest.reads(i))
      for (KeptRow &row : keptRows)
        row.isFilled |= isSame(row.input, input);
}

/// The inputs that several passes over a row load, in order.
SmallVector<NestOperand> GpuEmitter::findRepeatedInputs() const {
  SmallVector<NestOperand> loaded, repeated;
  auto contains = [](ArrayRef<NestOperand> list, const NestOperand &input) {
    return llvm::any_of(
        list, [&](const NestOperand &other) { return isSame(other, input); });
  };
  for (const KernelNest &nest : kernel.getNests()) {
    if (nest.level != NestLevel::Full)
      continue;
    for (auto [i, input] : llvm::enumerate(nest.inputs)) {
      if (!nest.reads(i) || !isa<BlockArgument>(input.base) ||
          !isPerLane(input) || contains(repeated, input))
        continue;
      (contains(loaded, input) ? repeated : loaded).push_back(input);
    }
  }
  return repeated;
}

/// Registers for so many elements of the operand's type.
static int64_t countRegisters(int64_t count, Value buffer) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  const int64_t bytes =
      count * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  return llvm::divideCeil(bytes, 4);
}

static const auto kRowRemark =
    remark::RemarkOpts::name("keep-rows").category("fusion");

static unsigned getNumber(const NestOperand &input) {
  return cast<BlockArgument>(input.base).getArgNumber();
}

void GpuEmitter::keepRow(const NestOperand &input, int64_t count,
                         int64_t registers) {
  Type element = cast<MemRefType>(input.base.getType()).getElementType();
  keptRows.push_back({input, allocateRow(count, element)});
  remark::passed(loc, kRowRemark) << remark::add(
      "input {0} of @{1} stays in {2} registers of a thread between passes "
      "over a row",
      getNumber(input), source.getSymName(), registers);
}

void GpuEmitter::reportReload(const NestOperand &input, const Twine &reason) {
  ++numReloaded;
  const std::string text = reason.str();
  remark::missed(loc, kRowRemark)
      << remark::add("input {0} of @{1} is loaded in each pass over a row: {2}",
                     getNumber(input), source.getSymName(), text);
}

/// Chooses the inputs that are kept: of passes whose steps are unrolled, as
/// long as temporaries of the row leave registers. Column sums take them all.
void GpuEmitter::keepRows(int64_t threads) {
  if (softmax.sum)
    return;
  const int64_t steps = llvm::divideCeil(getRowChunks(), threads);
  const int64_t count = steps * chunk;
  int64_t left = kMostKeptRegisters;
  for (const auto &[base, buffer] : rowBuffers)
    left -= countRegisters(count, base);
  left = std::max<int64_t>(left, 0);
  for (const NestOperand &input : findRepeatedInputs()) {
    const int64_t needed = countRegisters(count, input.base);
    if (shape.hasSums())
      reportReload(input, "sums over rows take the registers");
    else if (getRowChunks() / threads > kUnrolledSteps)
      reportReload(input, "a loop of more than " + Twine(kUnrolledSteps) +
                              " steps is not unrolled");
    else if (needed > left)
      reportReload(input, "it would take " + Twine(needed) +
                              " registers of a thread, but " + Twine(left) +
                              " of " + Twine(kMostKeptRegisters) + " are left");
    else {
      left -= needed;
      keepRow(input, count, needed);
    }
  }
}
