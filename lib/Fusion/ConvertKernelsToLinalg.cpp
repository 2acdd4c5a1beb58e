//===- ConvertKernelsToLinalg.cpp - Kernels as linalg on memrefs ----------===//

#include "LinalgWriter.h"
#include "weft/Fusion/Passes.h"
#include "weft/Weft/KernelFacts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace weft {
#define GEN_PASS_DEF_CONVERTKERNELSTOLINALGPASS
#include "weft/Fusion/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

LinalgWriter::LinalgWriter(KernelOp kernel, const KernelLayout &layout,
                           bool fast)
    : kernel(kernel), layout(layout), space(layout.getSpace()), fast(fast),
      b(kernel.getContext()), loc(kernel.getLoc()) {}

func::FuncOp LinalgWriter::write() {
  b.setInsertionPoint(kernel);
  llvm::SmallVector<Type> types;
  auto add = [&](llvm::ArrayRef<Type> tensors) {
    for (Type type : tensors) {
      auto tensor = cast<RankedTensorType>(type);
      Layout rows =
          Layout::getPitched(tensor.getShape(), kernel.getPitch(types.size()));
      types.push_back(rows.getType(tensor.getElementType()));
    }
  };
  add(kernel.getArgumentTypes());
  add(kernel.getResultTypes());
  function = func::FuncOp::create(b, loc, kernel.getSymName(),
                                  b.getFunctionType(types, {}));
  function->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
  layout.getShape().set(function);
  function->setAttr(kInPlaceAttr, kernel.getInplaceAttr());
  b.setInsertionPointToStart(function.addEntryBlock());
  findSupports();
  if (layout.getShape().getKind() == KernelKind::Columns)
    writeColumns();
  else
    writeRows();
  func::ReturnOp::create(b, loc);
  return function;
}

LinalgWriter::Dims LinalgWriter::dimsOf(llvm::ArrayRef<DimRole> roles) const {
  Dims dims;
  for (unsigned d = 0; d < space.getSizes().size(); ++d)
    if (llvm::is_contained(roles, layout.getShape().getRole(d)))
      dims.push_back(d);
  return dims;
}

/// A member depends on the dimensions that its operands depend on. These may be
/// fewer than the dimensions of its shape.
void LinalgWriter::findSupports() {
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    Value result = op.getResult(0);
    if (!space.isMember(result))
      continue;
    llvm::SmallVector<bool> follows(space.getSizes().size(), false);
    auto add = [&](const SpaceAccess &access) {
      for (unsigned d = 0; d < follows.size(); ++d)
        follows[d] = follows[d] || access.dependsOn(d);
    };
    if (isa<ReduceOp>(op) && !isTrivialReduce(&op))
      add(space.getAccess(result));
    else
      for (OpOperand &operand : op.getOpOperands()) {
        if (const ExternalUse *use = space.getUse(operand))
          add(use->access);
        for (unsigned d : supports.lookup(operand.get()))
          follows[d] = true;
      }
    for (unsigned d = 0; d < follows.size(); ++d)
      if (follows[d])
        supports[result].push_back(d);
  }
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

/// The running totals of reductions.
void LinalgWriter::addTotals(ArrayRef<ReduceOp> reduces, Nest &nest) {
  for (ReduceOp reduce : reduces) {
    Value result = reduce.getResult();
    totals[result] = temporary(getSumType(reduce), supports.lookup(result));
    nest.targets.push_back({totals[result], result, reduce});
  }
}

void LinalgWriter::addStores(const KernelPhase &phase, Nest &nest) {
  for (unsigned output : phase.stores) {
    Value value = layout.getOutputs()[output];
    Value buffer =
        function.getArgument(kernel.getArgumentTypes().size() + output);
    nest.targets.push_back(
        {viewOf(buffer, space.getAccess(value)), value, nullptr});
  }
}

/// The pass over the whole space.
void LinalgWriter::writeFull(const KernelPhase &phase) {
  Nest nest;
  nest.dims = dimsOf({DimRole::Outer, DimRole::Inner, DimRole::Lane});
  nest.ops = phase.ops;
  addTotals(phase.reduces, nest);
  addTotals(phase.sums, nest);
  for (Value value : phase.saves)
    nest.targets.push_back(
        {temporary(getValueType(value), nest.dims), value, nullptr});
  addStores(phase, nest);
  if (nest.targets.empty())
    return;
  llvm::SmallVector<Target> targets = nest.targets;
  build(std::move(nest));
  for (const Target &target : targets)
    if (llvm::is_contained(phase.saves, target.value) &&
        target.view.memref.getDefiningOp<memref::AllocaOp>())
      kept[target.value] = target.view;
}

/// Values that do not change inside the loops; the last such nest writes the
/// outputs among them.
void LinalgWriter::writeOuter(llvm::ArrayRef<Operation *> ops, bool last) {
  Nest nest;
  nest.dims = dimsOf({DimRole::Outer});
  nest.ops.assign(ops.begin(), ops.end());
  llvm::SmallVector<Target> values;
  for (Operation *op : ops) {
    Value result = op->getResult(0);
    if (!last)
      values.push_back(
          {temporary(getValueType(result), supports.lookup(result)), result,
           nullptr});
  }
  nest.targets = values;
  for (unsigned i = 0; last && i < layout.getOutputs().size(); ++i) {
    Value value = layout.getOutputs()[i];
    if (!layout.isOuterOutput(i))
      continue;
    Value buffer = function.getArgument(kernel.getArgumentTypes().size() + i);
    nest.targets.push_back(
        {viewOf(buffer, space.getAccess(value)), value, nullptr});
  }
  if (!nest.targets.empty())
    build(std::move(nest));
  for (const Target &target : values)
    kept[target.value] = target.view;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Phases over the rows with the statistics of the rows between them.
void LinalgWriter::writeRows() {
  llvm::ArrayRef<KernelPhase> phases = layout.getPhases();
  for (unsigned p = 0; p < phases.size(); ++p) {
    llvm::SmallVector<Operation *> ops;
    for (unsigned i = 0; p != 0 && i < phases[p - 1].reduces.size(); ++i) {
      ReduceOp reduce = phases[p - 1].reduces[i];
      if (needsFinish(reduce))
        ops.push_back(reduce);
      else
        kept[reduce.getResult()] = totals[reduce.getResult()];
    }
    llvm::append_range(ops, phases[p].outerOps);
    const KernelPhase &phase = phases[p];
    bool full = !phase.reduces.empty() || !phase.sums.empty() ||
                !phase.stores.empty() || !phase.saves.empty();
    bool last = p + 1 == phases.size();
    if (!ops.empty() || (last && !full))
      writeOuter(ops, last && !full);
    if (full)
      writeFull(phase);
    if (last && full)
      writeOuter({}, /*last=*/true);
  }
  if (space.hasSums())
    writeSums();
}

/// Sums over rows, after all rows of their groups.
void LinalgWriter::writeSums() {
  Nest end;
  end.dims = dimsOf({DimRole::Outer, DimRole::Inner, DimRole::Lane});
  llvm::erase_if(end.dims, [&](unsigned d) { return space.isSummed(d); });
  llvm::append_range(end.ops, layout.getSumOps());
  for (auto [i, value] : llvm::enumerate(layout.getOutputs())) {
    if (!layout.isSumOutput(i))
      continue;
    Value buffer = function.getArgument(kernel.getArgumentTypes().size() + i);
    end.targets.push_back(
        {viewOf(buffer, space.getAccess(value)), value, nullptr});
  }
  build(std::move(end));
}

/// A phase over all rows, and one over the columns that sees their totals.
void LinalgWriter::writeColumns() {
  llvm::ArrayRef<KernelPhase> phases = layout.getPhases();
  llvm::SmallVector<Operation *> outer;
  for (const KernelPhase &phase : phases)
    llvm::append_range(outer, phase.outerOps);
  if (!outer.empty())
    writeOuter(outer, /*last=*/false);
  writeFull(phases.front());
  Nest end;
  end.dims = dimsOf({DimRole::Outer, DimRole::Lane});
  for (ReduceOp reduce : phases.front().reduces)
    end.ops.push_back(reduce);
  llvm::append_range(end.ops, phases.back().ops);
  addStores(phases.back(), end);
  build(std::move(end));
}

namespace {

struct ConvertKernelsToLinalgPass
    : weft::impl::ConvertKernelsToLinalgPassBase<ConvertKernelsToLinalgPass> {
  using ConvertKernelsToLinalgPassBase::ConvertKernelsToLinalgPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                math::MathDialect, memref::MemRefDialect>();
  }

  void runOnOperation() override {
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<KernelOp>())) {
      FailureOr<KernelLayout> layout = KernelLayout::get(kernel);
      if (failed(layout))
        return signalPassFailure();
      LinalgWriter(kernel, *layout, fast).write();
      kernel.erase();
    }
  }
};

} // namespace
