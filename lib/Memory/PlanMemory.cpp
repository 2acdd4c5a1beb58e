//===- PlanMemory.cpp - Give every buffer its offset in one arena ---------===//

#include "weft/Memory/Passes.h"

#include "weft/Analysis/Liveness.h"
#include "weft/Memory/MemoryReport.h"
#include "weft/Memory/Packing.h"
#include "weft/Plan/Plan.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#define DEBUG_TYPE "weft-plan-memory"

using namespace mlir;

namespace weft {

#define GEN_PASS_DEF_PLANMEMORYPASS
#include "weft/Memory/Passes.h.inc"

using StateOffsets = llvm::DenseMap<StringAttr, int64_t>;

/// Places states by kind, in the order of the module; returns the end.
static int64_t placeStates(ModuleOp module, StateOffsets &offsets) {
  Builder builder(module.getContext());
  int64_t end = 0;
  for (auto kind : {plan::StateKind::Param, plan::StateKind::Gradient,
                    plan::StateKind::Optimizer, plan::StateKind::Scaler,
                    plan::StateKind::Working})
    for (auto state : module.getOps<plan::StateOp>()) {
      if (state.getKind() != kind)
        continue;
      state.setOffsetAttr(builder.getI64IntegerAttr(end));
      offsets[state.getSymNameAttr()] = end;
      end += llvm::alignTo(plan::getBufferBytes(state.getBufferType()),
                           kBufferAlignment);
    }
  return end;
}

namespace {
struct PlanMemoryPass : impl::PlanMemoryPassBase<PlanMemoryPass> {
  using PlanMemoryPassBase::PlanMemoryPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    StateOffsets offsets;
    int64_t persistent = placeStates(module, offsets);
    int64_t transient = 0, lowerBound = 0;
    for (auto program : module.getOps<plan::ProgramOp>()) {
      for (auto use : program.getBody().front().getOps<plan::UseOp>())
        plan::setRootOffset(use.getBuffer(),
                            offsets.lookup(use.getStateAttr().getAttr()));
      Liveness liveness = computeLiveness(program, kBufferAlignment);
      transient = std::max(transient, placeBuffers(liveness, persistent));
      lowerBound = std::max(lowerBound, liveness.peakBytes);
    }
    Builder builder(&getContext());
    module->setAttr(plan::PlanDialect::kPersistentBytesAttr,
                    builder.getI64IntegerAttr(persistent));
    module->setAttr(plan::PlanDialect::kArenaBytesAttr,
                    builder.getI64IntegerAttr(persistent + transient));
    if (report)
      llvm::errs() << computeMemoryReport(module).toText();
    numPersistentBytes = persistent;
    numTransientBytes = transient;
    numLowerBoundBytes = lowerBound;
  }

  /// Places the transient buffers of a program from `start`; returns the size.
  int64_t placeBuffers(const Liveness &liveness, int64_t start) {
    SmallVector<PackItem> items;
    SmallVector<Value> roots;
    for (const BufferLifetime &buffer : liveness.buffers) {
      if (buffer.end < buffer.begin) {
        plan::setRootOffset(buffer.root, start);
        continue;
      }
      items.push_back({buffer.bytes, buffer.begin, buffer.end});
      roots.push_back(buffer.root);
    }
    Packing packing = packItems(items, kBufferAlignment);
    int64_t size = packing.bytes;
    for (auto [root, offset] : llvm::zip(roots, packing.offsets))
      plan::setRootOffset(root, start + offset);
    // A buffer without use still lies inside the arena.
    for (const BufferLifetime &buffer : liveness.buffers)
      size = std::max<int64_t>(size,
                               llvm::alignTo(buffer.bytes, kBufferAlignment));
    return size;
  }
};
} // namespace

} // namespace weft
