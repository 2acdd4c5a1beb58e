//===- KernelSchedules.cpp - Loop nests of generated kernels --------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace weft {

/// Rows that a column kernel adds up before it adds them to the total.
static constexpr int64_t kRowBlock = 64;
/// Partial sums of a row kernel, for parallel additions.
static constexpr int64_t kPartials = 4;

KernelEmitter::KernelEmitter(KernelOp kernel, const KernelLayout &layout)
    : kernel(kernel), layout(layout), space(layout.getSpace()),
      b(kernel.getContext()), loc(kernel.getLoc()) {}

LLVM::LLVMFuncOp KernelEmitter::emit() {
  b.setInsertionPoint(kernel);
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  {pointer, b.getI64Type(), b.getI64Type()});
  function = LLVM::LLVMFuncOp::create(b, loc, kernel.getSymName(), type);
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  begin = entry->getArgument(1);
  end = entry->getArgument(2);
  unsigned count =
      kernel.getArgumentTypes().size() + kernel.getResultTypes().size();
  for (unsigned i = 0; i < count; ++i)
    buffers.push_back(LLVM::LoadOp::create(
        b, loc, pointer, offset(entry->getArgument(0), pointer, constant(i))));
  indices.resize(space.getSizes().size());
  switch (layout.getSchedule()) {
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
    left += layout.getRole(d) == role;
  for (unsigned d = indices.size(); d-- > 0;) {
    if (layout.getRole(d) != role)
      continue;
    indices[d] = linear;
    if (--left == 0)
      return;
    Value size = constant(space.getSizes()[d]);
    indices[d] = arith::RemUIOp::create(b, loc, linear, size);
    linear = arith::DivUIOp::create(b, loc, linear, size);
  }
}

//===----------------------------------------------------------------------===//
// Values of a phase
//===----------------------------------------------------------------------===//

/// Reads what does not change inside the loops before they start.
void KernelEmitter::loadOuterUses() {
  for (auto &[operand, use] : space.getUses())
    if (layout.getDepth(use.access) == ValueDepth::Outer)
      load(use);
}

void KernelEmitter::emitOuterValues(const KernelPhase &phase) {
  for (Operation *op : phase.outerOps)
    evaluate(op);
}

/// Reads what is constant along the lanes before the loop over them.
void KernelEmitter::emitInnerValues(const KernelPhase &phase) {
  auto loadInner = [&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (const ExternalUse *use = space.getUse(operand))
        if (layout.getDepth(use->access) == ValueDepth::Inner)
          load(*use);
  };
  for (ReduceOp reduce : phase.reduces)
    loadInner(reduce);
  for (Operation *op : phase.ops) {
    loadInner(op);
    if (layout.getDepth(op->getResult(0)) == ValueDepth::Inner)
      evaluate(op);
  }
}

void KernelEmitter::emitLaneValues(const KernelPhase &phase) {
  for (Value value : phase.restored) {
    Value index = indices.back();
    if (innerIndex)
      index = arith::AddIOp::create(
          b, loc, index,
          arith::MulIOp::create(b, loc, innerIndex,
                                constant(layout.getLaneSize())));
    Type element = getElementTypeOrSelf(value.getType());
    Type memory = element.isInteger(1) ? b.getI8Type() : element;
    known[2][value] = loadLanes(offset(saved[value], memory, index), element);
  }
  for (Operation *op : phase.ops)
    if (layout.getDepth(op->getResult(0)) == ValueDepth::Lane)
      evaluate(op);
}

void KernelEmitter::emitStores(const KernelPhase &phase) {
  for (unsigned output : phase.stores) {
    Value value = layout.getOutputs()[output];
    Type element = getElementTypeOrSelf(value.getType());
    Type memory = element.isInteger(1) ? b.getI8Type() : element;
    storeLanes(getMember(value, /*lanes=*/true),
               address(outputBuffer(output), memory, space.getAccess(value),
                       /*lanes=*/true));
  }
}

void KernelEmitter::emitSaves(const KernelPhase &phase) {
  for (Value value : phase.saves) {
    Value index = indices.back();
    if (innerIndex)
      index = arith::AddIOp::create(
          b, loc, index,
          arith::MulIOp::create(b, loc, innerIndex,
                                constant(layout.getLaneSize())));
    Type element = getElementTypeOrSelf(value.getType());
    Type memory = element.isInteger(1) ? b.getI8Type() : element;
    storeLanes(getMember(value, /*lanes=*/true),
               offset(saved[value], memory, index));
  }
}

//===----------------------------------------------------------------------===//
// Flat
//===----------------------------------------------------------------------===//

void KernelEmitter::emitFlat() {
  const KernelPhase &phase = layout.getPhases().front();
  loadOuterUses();
  emitOuterValues(phase);
  bool aligned = layout.getLaneSize() % kLanes == 0;
  emitLanes(begin, end, aligned, [&](Value) {
    emitLaneValues(phase);
    emitStores(phase);
  });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void KernelEmitter::emitRows() {
  for (const KernelPhase &phase : layout.getPhases())
    for (Value value : phase.saves) {
      int64_t count = layout.getCount(DimRole::Inner) * layout.getLaneSize();
      saved[value] = scratch(getElementTypeOrSelf(value.getType()), count);
    }
  emitFor(begin, end, 1, [&](Value row) { emitRow(row); });
}

void KernelEmitter::emitRow(Value row) {
  enter(ValueDepth::Outer);
  decode(row, DimRole::Outer);
  loadOuterUses();
  for (const KernelPhase &phase : layout.getPhases()) {
    emitOuterValues(phase);
    bool empty =
        phase.reduces.empty() && phase.stores.empty() && phase.saves.empty();
    if (!empty)
      emitRowPass(phase);
  }
  for (unsigned i = 0; i < layout.getOutputs().size(); ++i) {
    Value value = layout.getOutputs()[i];
    if (!layout.isOuterOutput(i))
      continue;
    Type element = getElementTypeOrSelf(value.getType());
    Type memory = element.isInteger(1) ? b.getI8Type() : element;
    storeScalar(getMember(value, /*lanes=*/false),
                address(outputBuffer(i), memory, space.getAccess(value),
                        /*lanes=*/false));
  }
}

/// One pass over the inner dimensions of a row. Each reduction has partial sums
/// that take turns: the one that waits longest comes first.
void KernelEmitter::emitRowPass(const KernelPhase &phase) {
  int64_t inner = layout.getCount(DimRole::Inner);
  int64_t chunks = inner * llvm::divideCeil(layout.getLaneSize(), kLanes);
  int64_t partials = std::min(kPartials, chunks);
  Values sums;
  for (ReduceOp reduce : phase.reduces)
    sums.append(partials, identity(reduce, lanesOf(getSumType(reduce))));
  if (inner == 1) {
    innerIndex = nullptr;
    enter(ValueDepth::Inner);
    emitInnerValues(phase);
    sums = emitRowLanes(phase, nullptr, sums);
  } else {
    auto loop = scf::ForOp::create(b, loc, constant(0), constant(inner),
                                   constant(1), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    enter(ValueDepth::Inner);
    innerIndex = loop.getInductionVar();
    decode(innerIndex, DimRole::Inner);
    emitInnerValues(phase);
    Values next(loop.getRegionIterArgs().begin(),
                loop.getRegionIterArgs().end());
    next = emitRowLanes(phase, innerIndex, next);
    if (!sums.empty())
      scf::YieldOp::create(b, loc, next);
    innerIndex = nullptr;
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  }
  for (auto [i, reduceOp] : llvm::enumerate(phase.reduces)) {
    ReduceOp reduce = reduceOp;
    llvm::ArrayRef<Value> own =
        llvm::ArrayRef<Value>(sums).slice(i * partials, partials);
    known[0][reduce.getResult()] = finish(reduce, reduceLanes(reduce, own));
  }
}

/// The lanes of one step of the inner loops; returns the partial sums.
KernelEmitter::Values KernelEmitter::emitRowLanes(const KernelPhase &phase,
                                                  Value inner, Values sums) {
  int64_t size = layout.getLaneSize(), whole = size / kLanes * kLanes;
  int64_t partials = phase.reduces.empty()
                         ? 0
                         : static_cast<int64_t>(sums.size()) /
                               static_cast<int64_t>(phase.reduces.size());
  auto chunk = [&](Value index, Values args) {
    enter(ValueDepth::Lane);
    indices.back() = index;
    emitLaneValues(phase);
    for (auto [i, reduceOp] : llvm::enumerate(phase.reduces)) {
      ReduceOp reduce = reduceOp;
      Value *own = args.data() + i * partials;
      Value sum = combine(reduce, own[0], getSummand(reduce));
      if (mask)
        sum = arith::SelectOp::create(b, loc, mask, sum, own[0]);
      std::rotate(own, own + 1, own + partials);
      own[partials - 1] = sum;
    }
    emitSaves(phase);
    emitStores(phase);
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

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

void KernelEmitter::emitColumns() {
  int64_t columns = layout.getLaneSize(), tile = layout.getTile();
  Value tiles = constant(llvm::divideCeil(columns, tile));
  emitFor(begin, end, 1, [&](Value part) {
    enter(ValueDepth::Outer);
    decode(arith::DivUIOp::create(b, loc, part, tiles), DimRole::Outer);
    Value number = arith::RemUIOp::create(b, loc, part, tiles);
    Value first = arith::MulIOp::create(b, loc, number, constant(tile));
    Value last = arith::AddIOp::create(b, loc, first, constant(tile));
    last = arith::MinSIOp::create(b, loc, last, constant(columns));
    loadOuterUses();
    for (const KernelPhase &phase : layout.getPhases())
      emitOuterValues(phase);
    emitColumnTile(first, last);
  });
}

/// Adds up rows in blocks, blocks to the total: `totals` and `blocks` are stack
/// buffers, one per reduction.
void KernelEmitter::emitColumnTile(Value first, Value last) {
  const KernelPhase &phase = layout.getPhases().front();
  int64_t rows = layout.getCount(DimRole::Inner);
  Values totals, blocks;
  for (ReduceOp reduce : phase.reduces) {
    totals.push_back(scratch(getSumType(reduce), layout.getTile()));
    if (rows > kRowBlock)
      blocks.push_back(scratch(getSumType(reduce), layout.getTile()));
  }
  auto fill = [&](llvm::ArrayRef<Value> sums) {
    emitFor(constant(0), constant(layout.getTile()), kLanes, [&](Value index) {
      for (auto [reduce, sum] : llvm::zip(phase.reduces, sums)) {
        Type type = getSumType(reduce);
        storeLanes(identity(reduce, lanesOf(type)), offset(sum, type, index));
      }
    });
  };
  fill(totals);
  if (blocks.empty()) {
    emitFor(constant(0), constant(rows), 1,
            [&](Value row) { emitColumnRow(row, first, last, totals); });
    return emitColumnEnd(first, last, totals);
  }
  emitFor(constant(0), constant(rows), kRowBlock, [&](Value start) {
    fill(blocks);
    Value stop = arith::AddIOp::create(b, loc, start, constant(kRowBlock));
    stop = arith::MinSIOp::create(b, loc, stop, constant(rows));
    emitFor(start, stop, 1,
            [&](Value row) { emitColumnRow(row, first, last, blocks); });
    emitFor(constant(0), constant(layout.getTile()), kLanes, [&](Value index) {
      for (auto [i, reduceOp] : llvm::enumerate(phase.reduces)) {
        ReduceOp reduce = reduceOp;
        Type type = getSumType(reduce);
        Value to = offset(totals[i], type, index);
        Value sum = combine(reduce, loadLanes(to, type),
                            loadLanes(offset(blocks[i], type, index), type));
        storeLanes(sum, to);
      }
    });
  });
  emitColumnEnd(first, last, totals);
}

/// One row of a tile: its elements are added to the sums of their columns.
void KernelEmitter::emitColumnRow(Value row, Value first, Value last,
                                  llvm::ArrayRef<Value> sums) {
  const KernelPhase &phase = layout.getPhases().front();
  enter(ValueDepth::Inner);
  decode(row, DimRole::Inner);
  emitInnerValues(phase);
  bool aligned = layout.getLaneSize() % kLanes == 0;
  emitLanes(first, last, aligned, [&](Value column) {
    emitLaneValues(phase);
    Value index = arith::SubIOp::create(b, loc, column, first);
    for (auto [reduceOp, buffer] : llvm::zip(phase.reduces, sums)) {
      ReduceOp reduce = reduceOp;
      Type type = getSumType(reduce);
      Value to = offset(buffer, type, index);
      storeLanes(combine(reduce, loadLanes(to, type), getSummand(reduce)), to);
    }
    emitStores(phase);
  });
}

/// Results of the reductions, and what is computed from them.
void KernelEmitter::emitColumnEnd(Value first, Value last,
                                  llvm::ArrayRef<Value> sums) {
  const KernelPhase &rows = layout.getPhases().front();
  const KernelPhase &phase = layout.getPhases().back();
  bool aligned = layout.getLaneSize() % kLanes == 0;
  enter(ValueDepth::Inner);
  emitLanes(first, last, aligned, [&](Value column) {
    Value index = arith::SubIOp::create(b, loc, column, first);
    for (auto [reduceOp, buffer] : llvm::zip(rows.reduces, sums)) {
      ReduceOp reduce = reduceOp;
      Type type = getSumType(reduce);
      Value sum = loadLanes(offset(buffer, type, index), type);
      known[2][reduce.getResult()] = finish(reduce, sum);
    }
    emitLaneValues(phase);
    emitStores(phase);
  });
}

} // namespace weft
