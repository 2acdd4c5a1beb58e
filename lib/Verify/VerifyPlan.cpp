//===- VerifyPlan.cpp - Prove that buffers never conflict -----------------===//
//
// Simulates a program on a map of the arena, with the last writer of each byte.
// It does not use the live ranges of lib/Analysis.
//
//===----------------------------------------------------------------------===//

#include "weft/Verify/Passes.h"

#include "ArenaMap.h"
#include "VerifyPlan.h"
#include "weft/Analysis/PlanQueries.h"
#include "weft/Plan/Transfers.h"

namespace weft {
#define GEN_PASS_DEF_VERIFYPLANPASS
#include "weft/Verify/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Checks the offset of a root against the part of the arena it belongs to.
static LogicalResult verifyPlace(Operation *op, MemRefType type,
                                 IntegerAttr offset, ByteRange part,
                                 int64_t alignment) {
  if (!offset)
    return op->emitOpError(
        "expects an offset (weft-plan-memory), but got none");
  ByteRange bytes = {offset.getInt(),
                     offset.getInt() + plan::getBufferBytes(type)};
  if (bytes.begin % alignment != 0)
    return op->emitOpError("expects an offset that is a multiple of ")
           << alignment << ", but got " << bytes.begin;
  if (bytes.begin < part.begin || bytes.end > part.end)
    return op->emitOpError("expects bytes inside [")
           << part.begin << ", " << part.end << "), but got [" << bytes.begin
           << ", " << bytes.end << ")";
  return success();
}

/// Checks that persistent tensors share no bytes.
static LogicalResult verifyStates(ModuleOp module, ByteRange part,
                                  int64_t alignment) {
  SmallVector<plan::StateOp> states(module.getOps<plan::StateOp>());
  for (plan::StateOp state : states)
    if (failed(verifyPlace(state, state.getStorageType(), state.getOffsetAttr(),
                           part, alignment)))
      return failure();
  llvm::sort(states, [](plan::StateOp a, plan::StateOp b) {
    return *a.getOffset() < *b.getOffset();
  });
  for (size_t i = 1; i < states.size(); ++i) {
    plan::StateOp before = states[i - 1];
    int64_t end = static_cast<int64_t>(*before.getOffset()) +
                  plan::getBufferBytes(before.getStorageType());
    if (static_cast<int64_t>(*states[i].getOffset()) >= end)
      continue;
    InFlightDiagnostic error =
        states[i].emitOpError("expects bytes of its own, but got offset ")
        << *states[i].getOffset() << " below " << end;
    error.attachNote(before.getLoc()) << "shared with this state";
    return error;
  }
  return success();
}

namespace {
/// Simulates one program.
class ProgramVerifier {
public:
  ProgramVerifier(ByteRange staging, ByteRange transient,
                  const SymbolTable &states, int64_t alignment)
      : staging(staging), transient(transient), states(states),
        alignment(alignment) {}

  LogicalResult run(plan::ProgramOp program) {
    for (Operation &op : program.getBody().front())
      if (failed(visit(&op)))
        return failure();
    for (auto output : program.getBody().front().getOps<plan::OutputOp>())
      if (failed(arena.read(output, output.getBuffer())))
        return failure();
    return success();
  }

private:
  LogicalResult visit(Operation *op) {
    if (isa<plan::InputOp, plan::AllocOp, plan::StagingOp>(op)) {
      Value root = op->getResult(0);
      if (failed(verifyPlace(op, cast<MemRefType>(root.getType()),
                             op->getAttrOfType<IntegerAttr>("offset"),
                             plan::isStaged(root) ? staging : transient,
                             alignment)))
        return failure();
    }
    if (auto use = dyn_cast<plan::UseOp>(op))
      if (failed(verifyUse(use)))
        return failure();
    // A staged input is only written by its upload command.
    if (isa<plan::InputOp, plan::UseOp>(op) &&
        !plan::isStaged(op->getResult(0)))
      arena.write(op->getResult(0));
    if (auto command = dyn_cast<plan::CommandOpInterface>(op))
      return visitCommand(command);
    return success();
  }

  LogicalResult verifyUse(plan::UseOp use) {
    auto state = states.lookup<plan::StateOp>(use.getStateAttr().getAttr());
    if (use.getOffsetAttr() == state.getOffsetAttr())
      return success();
    InFlightDiagnostic error = use.emitOpError("expects the offset of the "
                                               "state, ")
                               << state.getOffsetAttr() << ", but got "
                               << use.getOffsetAttr();
    error.attachNote(state.getLoc()) << "declared here";
    return error;
  }

  LogicalResult visitCommand(plan::CommandOpInterface command) {
    const SmallVector<plan::Access> accesses = command.getAccesses();
    for (const plan::Access &access : accesses)
      if (access.isRead && failed(arena.read(command, access.buffer)))
        return failure();
    for (auto [buffer, isRead, isWritten] : accesses) {
      if (!isWritten)
        continue;
      Value root = plan::getRoot(buffer);
      ByteRange bytes = getRootBytes(root);
      for (Value other : command->getOperands())
        if (failed(verifyDisjoint(command, root, bytes, other)))
          return failure();
      arena.write(buffer);
    }
    return success();
  }

  /// Checks that other roots of a command share no bytes with a root that it
  /// writes.
  LogicalResult verifyDisjoint(Operation *op, Value root, ByteRange bytes,
                               Value other) {
    Value otherRoot = plan::getRoot(other);
    if (root == otherRoot || !bytes.overlaps(getRootBytes(otherRoot)))
      return success();
    InFlightDiagnostic error =
        op->emitOpError("expects a written buffer that shares no bytes with "
                        "its other buffers, but got ")
        << bytes << " and " << getRootBytes(otherRoot);
    error.attachNote(otherRoot.getLoc()) << "the other buffer";
    return error;
  }

  ByteRange staging, transient;
  const SymbolTable &states;
  int64_t alignment;
  ArenaMap arena;
};

struct VerifyPlanPass : weft::impl::VerifyPlanPassBase<VerifyPlanPass> {
  using VerifyPlanPassBase::VerifyPlanPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto persistent = module->getAttrOfType<IntegerAttr>(
        plan::PlanDialect::kPersistentBytesAttr);
    auto arena =
        module->getAttrOfType<IntegerAttr>(plan::PlanDialect::kArenaBytesAttr);
    if (!persistent || !arena) {
      module.emitOpError("expects plan.persistent_bytes and plan.arena_bytes "
                         "(weft-plan-memory), but got none");
      return signalPassFailure();
    }
    const FailureOr<int64_t> recorded = getBufferAlignment(module);
    if (failed(recorded))
      return signalPassFailure();
    const int64_t alignment = *recorded;
    if (failed(verifyStates(module, {0, persistent.getInt()}, alignment)))
      return signalPassFailure();
    auto staged = module->getAttrOfType<IntegerAttr>(plan::kStagingBytesAttr);
    int64_t start = persistent.getInt() + (staged ? staged.getInt() : 0);
    ByteRange staging = {persistent.getInt(), start};
    ByteRange transient = {start, arena.getInt()};
    SymbolTable symbols(module);
    for (auto program : module.getOps<plan::ProgramOp>())
      if (failed(ProgramVerifier(staging, transient, symbols, alignment)
                     .run(program)))
        return signalPassFailure();
    if (failed(verifyStreams(module)) || failed(verifyCollectiveEvents(module)))
      return signalPassFailure();
    if (failed(verifyStateOrder(module)) || failed(verifyTraining(module)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
