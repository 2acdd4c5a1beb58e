//===- KernelSchedules.cpp - Loop nests of generated kernels --------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace weft {

/// Partial sums of a row kernel, for parallel additions.
static constexpr int64_t kPartials = 4;

KernelEmitter::KernelEmitter(func::FuncOp source, const LinalgKernel &kernel)
    : source(source), kernel(kernel), b(source.getContext()),
      loc(source.getLoc()) {}

LLVM::LLVMFuncOp KernelEmitter::emit() {
  b.setInsertionPoint(source);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  {pointer, b.getI64Type(), b.getI64Type()});
  function = LLVM::LLVMFuncOp::create(b, loc, source.getSymName(), type);
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  begin = entry->getArgument(1);
  end = entry->getArgument(2);
  for (unsigned i = 0; i < source.getNumArguments(); ++i)
    buffers.push_back(LLVM::LoadOp::create(
        b, loc, pointer, offset(entry->getArgument(0), pointer, constant(i))));
  indices.resize(kernel.getSizes().size());
  switch (kernel.getSchedule()) {
  case KernelSchedule::Flat:
    emitFlat();
    break;
  case KernelSchedule::Rows:
    emitRows();
    break;
  case KernelSchedule::Columns:
    emitColumns();
    break;
  }
  LLVM::ReturnOp::create(b, loc, ValueRange{});
  return function;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void KernelEmitter::emitFor(Value from, Value to, int64_t step,
                            llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, from, to, constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// Runs `body` for whole chunks of [from, to), then under a mask for the rest
/// unless `aligned` promises that there is none.
void KernelEmitter::emitLanes(Value from, Value to, bool aligned,
                              llvm::function_ref<void(Value)> body) {
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
  emitFor(from, middle, kLanes, chunk);
  if (aligned)
    return;
  Value rest =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, middle, to);
  auto tail = scf::IfOp::create(b, loc, rest, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(tail.thenBlock());
  mask = tailMask(arith::SubIOp::create(b, loc, to, middle));
  chunk(middle);
  mask = nullptr;
}

/// Sets the indices of the dimensions of a role from their joint index.
void KernelEmitter::decode(Value linear, DimRole role) {
  unsigned left = 0;
  for (unsigned d = 0; d < indices.size(); ++d)
    left += kernel.getRole(d) == role;
  for (unsigned d = indices.size(); d-- > 0;) {
    if (kernel.getRole(d) != role)
      continue;
    indices[d] = linear;
    if (--left == 0)
      return;
    Value size = constant(kernel.getSizes()[d]);
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
  bool aligned = kernel.getLaneSize() % kLanes == 0;
  for (const KernelNest &nest : kernel.getNests()) {
    if (nest.level == NestLevel::Outer) {
      emitOuterNest(nest);
      continue;
    }
    emitValues(nest, ValueDepth::Outer);
    emitLanes(begin, end, aligned, [&](Value) {
      emitValues(nest, ValueDepth::Lane);
      emitStores(nest);
    });
  }
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void KernelEmitter::emitRows() {
  for (const KernelNest &nest : kernel.getNests())
    for (const NestOperand &output : nest.outputs)
      if (!isa<BlockArgument>(output.base) &&
          kernel.getDepth(output.access) == ValueDepth::Lane)
        stack[output.base] =
            scratch(getElementTypeOrSelf(output.base.getType()),
                    kernel.getCount(DimRole::Inner) * kernel.getLaneSize());
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

/// One pass over the inner dimensions of a row. Each total has partial sums
/// that take turns: the one that waits longest comes first.
void KernelEmitter::emitRowPass(const KernelNest &nest) {
  int64_t inner = kernel.getCount(DimRole::Inner);
  int64_t chunks = inner * llvm::divideCeil(kernel.getLaneSize(), kLanes);
  int64_t partials = std::min(kPartials, chunks);
  llvm::SmallVector<NestTotal> totals = totalsOf(nest);
  Values sums;
  for (const NestTotal &total : totals)
    sums.append(partials, identity(total));
  emitValues(nest, ValueDepth::Outer);
  if (inner == 1) {
    enter(ValueDepth::Inner);
    emitValues(nest, ValueDepth::Inner);
    sums = emitRowLanes(nest, sums);
  } else {
    auto loop = scf::ForOp::create(b, loc, constant(0), constant(inner),
                                   constant(1), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    enter(ValueDepth::Inner);
    decode(loop.getInductionVar(), DimRole::Inner);
    emitValues(nest, ValueDepth::Inner);
    Values next(loop.getRegionIterArgs().begin(),
                loop.getRegionIterArgs().end());
    next = emitRowLanes(nest, next);
    if (!sums.empty())
      scf::YieldOp::create(b, loc, next);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  }
  unsigned first = 0;
  for (auto [total, output] : llvm::zip(nest.totals, nest.outputs)) {
    if (!total.combiner)
      continue;
    numbers[output.base] =
        reduceLanes(total, llvm::ArrayRef<Value>(sums).slice(first, partials));
    first += partials;
  }
}

/// One chunk of lanes; returns the partial sums after it.
KernelEmitter::Values KernelEmitter::emitRowChunk(const KernelNest &nest,
                                                  Values sums) {
  llvm::SmallVector<NestTotal> totals = totalsOf(nest);
  emitValues(nest, ValueDepth::Lane);
  for (auto [i, total] : llvm::enumerate(totals)) {
    size_t partials = sums.size() / totals.size();
    Value *own = sums.data() + i * partials;
    Value sum = combine(total, own[0], getSummand(nest, total));
    if (mask)
      sum = arith::SelectOp::create(b, loc, mask, sum, own[0]);
    std::rotate(own, own + 1, own + partials);
    own[partials - 1] = sum;
  }
  emitStores(nest);
  return sums;
}

/// The lanes of one step of the inner loops; returns the partial sums.
KernelEmitter::Values KernelEmitter::emitRowLanes(const KernelNest &nest,
                                                  Values sums) {
  int64_t size = kernel.getLaneSize(), whole = size / kLanes * kLanes;
  auto chunk = [&](Value index, Values args) {
    enter(ValueDepth::Lane);
    indices.back() = index;
    args = emitRowChunk(nest, args);
    indices.back() = nullptr;
    return args;
  };
  if (whole != 0) {
    auto loop = scf::ForOp::create(b, loc, constant(0), constant(whole),
                                   constant(kLanes), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Values args(loop.getRegionIterArgs().begin(),
                loop.getRegionIterArgs().end());
    args = chunk(loop.getInductionVar(), args);
    if (!sums.empty())
      scf::YieldOp::create(b, loc, args);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  }
  if (whole != size) {
    mask = tailMask(constant(size - whole));
    sums = chunk(constant(whole), sums);
    mask = nullptr;
  }
  return sums;
}

} // namespace weft
