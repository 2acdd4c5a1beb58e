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

using namespace mlir;
using namespace weft;

/// Registers of 4 bytes that a thread has for kept elements of all inputs: a
/// row of 1024 elements takes 32 of f32, or 16 of f16. LLVM may keep the sum of
/// two inputs in place of both.
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

/// Chooses the inputs that are kept: of passes whose steps are unrolled, as
/// long as there are registers. Column sums take them all.
void GpuEmitter::keepRows(int64_t threads) {
  if (softmax.sum || shape.hasSums() ||
      getRowChunks() / threads > kUnrolledSteps)
    return;
  const int64_t count = llvm::divideCeil(getRowChunks(), threads) * chunk;
  int64_t bytes = 4 * kMostKeptRegisters;
  SmallVector<NestOperand> loaded;
  for (const KernelNest &nest : kernel.getNests()) {
    if (nest.level != NestLevel::Full)
      continue;
    for (auto [i, input] : llvm::enumerate(nest.inputs)) {
      if (!nest.reads(i) || !isa<BlockArgument>(input.base) ||
          !isPerLane(input) || findKept(input))
        continue;
      const NestOperand &own = input;
      if (llvm::none_of(loaded, [&](const NestOperand &other) {
            return isSame(other, own);
          })) {
        loaded.push_back(input);
        continue;
      }
      Type element = cast<MemRefType>(input.base.getType()).getElementType();
      const int64_t needed =
          count * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
      if (needed > bytes)
        continue;
      bytes -= needed;
      keptRows.push_back({input, allocateRow(count, element)});
    }
  }
}
