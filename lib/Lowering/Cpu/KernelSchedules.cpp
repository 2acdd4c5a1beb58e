//===- KernelSchedules.cpp - Loop nests of generated kernels --------------===//

#include "KernelEmitter.h"
#include "weft/Lowering/Linalg/LoopHints.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace weft;

KernelEmitter::KernelEmitter(func::FuncOp source, const LinalgKernel &kernel)
    : source(source), kernel(kernel), shape(kernel.getShape()),
      range(KernelRange::choose(shape)), b(source.getContext()),
      loc(source.getLoc()) {}

LLVM::LLVMFuncOp KernelEmitter::emit() {
  b.setInsertionPoint(source);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  {pointer, b.getI64Type(), b.getI64Type()});
  function = LLVM::LLVMFuncOp::create(b, loc, source.getSymName(), type);
  range.set(function);
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  begin = entry->getArgument(1);
  end = entry->getArgument(2);
  for (unsigned i = 0; i < source.getNumArguments(); ++i)
    buffers.push_back(LLVM::LoadOp::create(
        b, loc, pointer, offset(entry->getArgument(0), pointer, constant(i))));
  indices.resize(shape.getSizes().size());
  for (const KernelNest &nest : kernel.getNests()) {
    findDraws(nest);
    findPicks(nest);
  }
  if (shape.getKind() == KernelKind::Columns)
    emitColumns();
  else if (isFlat(shape))
    emitFlat();
  else
    emitRows();
  LLVM::ReturnOp::create(b, loc, ValueRange{});
  return function;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void KernelEmitter::emitFor(Value from, Value to, int64_t step,
                            function_ref<void(Value)> body, int32_t unroll) {
  auto loop = scf::ForOp::create(b, loc, from, to, constant(step));
  if (unroll != 1)
    unrollBy(loop, unroll);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// A loop that hands `args` on from step to step; returns the last ones.
KernelEmitter::Values
KernelEmitter::emitLoop(Value from, Value to, int64_t step, const Values &args,
                        function_ref<Values(Value, Values)> body,
                        int32_t unroll) {
  auto loop = scf::ForOp::create(b, loc, from, to, constant(step), args);
  if (unroll != 1)
    unrollBy(loop, unroll);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Values next(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  next = body(loop.getInductionVar(), next);
  if (!args.empty())
    scf::YieldOp::create(b, loc, next);
  return Values(loop.getResults().begin(), loop.getResults().end());
}

/// Runs `body` for whole chunks of [from, to), then under a mask for the rest
/// unless `aligned` promises that there is none.
void KernelEmitter::emitLanes(const KernelNest &nest, Value from, Value to,
                              bool aligned, function_ref<void(Value)> body,
                              int32_t unroll) {
  unsigned lane = indices.size() - 1;
  auto chunk = [&](Value index) {
    enter(ValueDepth::Lane);
    indices[lane] = index;
    body(index);
    indices[lane] = nullptr;
  };
  Value size = arith::SubIOp::create(b, loc, to, from);
  Value whole = size;
  if (!aligned)
    whole = arith::AndIOp::create(b, loc, size, constant(-kLanes));
  Value middle = arith::AddIOp::create(b, loc, from, whole);
  emitChunks(
      nest, from, middle, {},
      [&](Value index, Values) { return chunk(index), Values(); }, unroll);
  if (aligned)
    return;
  Value rest =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, middle, to);
  auto tail = scf::IfOp::create(b, loc, rest, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(tail.thenBlock());
  mask = tailMask(arith::SubIOp::create(b, loc, to, middle));
  startDraws(nest, middle);
  chunk(middle);
  mask = nullptr;
}

/// Sets the indices of the dimensions of a role from their joint index.
void KernelEmitter::decode(Value linear, DimRole role) {
  unsigned left = 0;
  for (unsigned d = 0; d < indices.size(); ++d)
    left += shape.getRole(d) == role;
  for (unsigned d = indices.size(); d-- > 0;) {
    if (shape.getRole(d) != role)
      continue;
    indices[d] = linear;
    if (--left == 0)
      return;
    Value size = constant(shape.getSizes()[d]);
    indices[d] = arith::RemUIOp::create(b, loc, linear, size);
    linear = arith::DivUIOp::create(b, loc, linear, size);
  }
}

//===----------------------------------------------------------------------===//
// Values of a nest
//===----------------------------------------------------------------------===//

/// Reads the operands and computes the values that change at `depth`.
void KernelEmitter::emitValues(const KernelNest &nest, ValueDepth depth) {
  for (unsigned i = 0; i < nest.inputs.size(); ++i) {
    Value argument = nest.getBody().getArgument(i);
    if (!argument.use_empty() && nest.depths.lookup(argument) == depth)
      getScalar(nest, argument, /*lanes=*/false);
  }
  for (Operation &op : nest.getBody().without_terminator())
    if (!isa<arith::ConstantOp>(op) && !nest.isCombiner(&op) &&
        nest.depths.lookup(op.getResult(0)) == depth)
      evaluate(nest, &op);
}

void KernelEmitter::emitStores(const KernelNest &nest) {
  for (unsigned i = 0; i < nest.outputs.size(); ++i)
    if (!nest.totals[i].combiner)
      store(nest.outputs[i],
            getScalar(nest, nest.getResult(i), /*lanes=*/true));
}

/// A nest over the outer loops: its temporaries are single numbers here.
void KernelEmitter::emitOuterNest(const KernelNest &nest) {
  emitValues(nest, ValueDepth::Outer);
  for (unsigned i = 0; i < nest.outputs.size(); ++i) {
    Value value = getScalar(nest, nest.getResult(i), /*lanes=*/false);
    if (isa<BlockArgument>(nest.outputs[i].base))
      store(nest.outputs[i], value);
    else
      numbers[nest.outputs[i].base] = value;
  }
}

//===----------------------------------------------------------------------===//
// Flat
//===----------------------------------------------------------------------===//

void KernelEmitter::emitFlat() {
  bool aligned = shape.getLaneSize() % kLanes == 0;
  for (const KernelNest &nest : kernel.getNests()) {
    if (nest.level == NestLevel::Outer) {
      emitOuterNest(nest);
      continue;
    }
    emitValues(nest, ValueDepth::Outer);
    emitLanes(nest, begin, end, aligned, [&](Value) {
      emitValues(nest, ValueDepth::Lane);
      emitStores(nest);
    });
  }
}
