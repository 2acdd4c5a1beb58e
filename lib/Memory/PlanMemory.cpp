//===- PlanMemory.cpp - Give every buffer its offset in one arena ---------===//

#include "weft/Memory/Passes.h"

#include "weft/Analysis/Liveness.h"
#include "weft/Memory/MemoryReport.h"
#include "weft/Memory/Packing.h"
#include "weft/Plan/Transfers.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

namespace weft {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "weft/Memory/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// The address space of a process.
static constexpr int64_t kMostBytes = int64_t(1) << 47;

using StateOffsets = llvm::DenseMap<StringAttr, int64_t>;

/// Whether the bytes of all buffers of a program together can be counted:
/// packing them then overflows nowhere. One buffer has at most 2^44 bytes.
static bool isCountable(const Liveness &liveness, int64_t alignment) {
  int64_t sum = 0;
  return llvm::none_of(liveness.buffers, [&](const BufferLifetime &buffer) {
    return llvm::AddOverflow(sum, buffer.bytes + alignment, sum);
  });
}

/// Places states by kind, in the order of the module; returns the end.
static FailureOr<int64_t> placeStates(ModuleOp module, StateOffsets &offsets,
                                      int64_t alignment) {
  Builder builder(module.getContext());
  int64_t end = 0;
  for (auto kind :
       {StateKind::Param, StateKind::Gradient, StateKind::Optimizer,
        StateKind::Scaler, StateKind::Working, StateKind::Accumulator,
        StateKind::Presence, StateKind::Denominator, StateKind::Cache})
    for (auto state : module.getOps<plan::StateOp>()) {
      if (state.getKind() != kind)
        continue;
      state.setOffsetAttr(builder.getI64IntegerAttr(end));
      offsets[state.getSymNameAttr()] = end;
      end += llvm::alignTo(plan::getBufferBytes(state.getStorageType()),
                           alignment);
      if (end > kMostBytes)
        return FailureOr<int64_t>(
            state.emitOpError("expects states of at most 2^47 bytes together, "
                              "the address space of a process, but got more"));
    }
  return end;
}

/// Places staged roots of all programs, inputs or results, from `start`: those
/// of each program one behind the other. Returns the end of the longest list.
template <typename RootOp>
static int64_t placeStaged(ModuleOp module, int64_t start, int64_t alignment) {
  int64_t end = start;
  for (auto program : module.getOps<plan::ProgramOp>()) {
    int64_t next = start;
    for (auto root : program.getBody().front().getOps<RootOp>()) {
      if (!plan::isStaged(root.getBuffer()))
        continue;
      plan::setRootOffset(root.getBuffer(), next);
      next += llvm::alignTo(
          plan::getBufferBytes(cast<MemRefType>(root.getBuffer().getType())),
          alignment);
    }
    end = std::max(end, next);
  }
  return end;
}

namespace {
struct PlanMemoryPass : weft::impl::PlanMemoryPassBase<PlanMemoryPass> {
  using PlanMemoryPassBase::PlanMemoryPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!llvm::isPowerOf2_64(alignment)) {
      module.emitError("expects an alignment that is a power of two, but got ")
          << alignment;
      return signalPassFailure();
    }
    StateOffsets offsets;
    FailureOr<int64_t> states = placeStates(module, offsets, alignment);
    if (failed(states))
      return signalPassFailure();
    int64_t persistent = *states;
    int64_t start = placeStaged<plan::InputOp>(module, persistent, alignment);
    start = placeStaged<plan::StagingOp>(module, start, alignment);
    int64_t transient = 0, lowerBound = 0;
    for (auto program : module.getOps<plan::ProgramOp>()) {
      for (auto use : program.getBody().front().getOps<plan::UseOp>())
        plan::setRootOffset(use.getBuffer(),
                            offsets.lookup(use.getStateAttr().getAttr()));
      Liveness liveness = computeLiveness(program, alignment);
      transient =
          std::max(transient, isCountable(liveness, alignment)
                                  ? placeBuffers(liveness, start)
                                  : std::numeric_limits<int64_t>::max());
      lowerBound = std::max(lowerBound, liveness.peakBytes);
    }
    if (start > kMostBytes || transient > kMostBytes - start) {
      module.emitError("expects an arena of at most 2^47 bytes, the address "
                       "space of a process, but got ")
          << start << " bytes of state and " << transient
          << " bytes of a program";
      return signalPassFailure();
    }
    Builder builder(&getContext());
    module->setAttr(plan::PlanDialect::kAlignmentAttr,
                    builder.getI64IntegerAttr(alignment));
    module->setAttr(plan::PlanDialect::kPersistentBytesAttr,
                    builder.getI64IntegerAttr(persistent));
    if (start != persistent)
      module->setAttr(plan::kStagingBytesAttr,
                      builder.getI64IntegerAttr(start - persistent));
    module->setAttr(plan::PlanDialect::kArenaBytesAttr,
                    builder.getI64IntegerAttr(start + transient));
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
    Packing packing = packItems(items, alignment);
    int64_t size = packing.bytes;
    for (auto [root, offset] : llvm::zip(roots, packing.offsets))
      plan::setRootOffset(root, start + offset);
    // A buffer without use still lies inside the arena.
    for (const BufferLifetime &buffer : liveness.buffers)
      size = std::max<int64_t>(size, llvm::alignTo(buffer.bytes, alignment));
    return size;
  }
};
} // namespace
