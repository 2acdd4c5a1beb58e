//===- PlanContracts.cpp - Contracts of phases on plans -------------------===//

#include "Contracts.h"

#include "weft/Plan/PlanCollectives.h"
#include "weft/Plan/Transfers.h"
#include "weft/Verify/VerifyExecutable.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace weft;

LogicalResult weft::checkPlan(ModuleOp module) {
  for (auto program : module.getOps<ProgramOp>())
    return program.emitOpError("expects no weft program after lower-to-plan");
  return success();
}

LogicalResult weft::checkEstimates(ModuleOp module) {
  WalkResult result = module.walk([](plan::CommandOpInterface command) {
    // Which is a number of at least 0: of its verifier.
    if (command.getEstUsAttr())
      return WalkResult::advance();
    command->emitOpError("expects an est_us after estimate");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Sizes and pitches are decided before places, streams and workspaces.
LogicalResult weft::checkUnplaced(ModuleOp module, const PhaseInfo &phase) {
  WalkResult result = module.walk([&](Operation *op) {
    if (!isa<plan::CommandOpInterface, plan::AllocOp>(op) ||
        (!op->hasAttr("offset") && !op->hasAttr("stream")))
      return WalkResult::advance();
    op->emitOpError("expects no offset and no stream after ") << phase.name;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Gathers and reductions of several ranks have streams if they may overlap.
LogicalResult weft::checkOverlap(ModuleOp module, const FlagValues &flags) {
  if (!flags.isSet("mesh") || flags.getInt("prefetch") == 0)
    return success();
  WalkResult result = module.walk([](plan::CommandOpInterface command) {
    auto ranks = command->getAttrOfType<IntegerAttr>("ranks");
    if (!isa<plan::AllGatherOp, plan::ReduceScatterOp>(*command) ||
        command.getStreamAttr() || (ranks && ranks.getInt() == 1))
      return WalkResult::advance();
    command->emitOpError("expects a stream after schedule");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// An event that nothing records would hold nobody back.
LogicalResult weft::checkEvents(ModuleOp module) {
  llvm::DenseSet<StringAttr> recorded;
  module.walk([&](plan::RecordOp record) {
    recorded.insert(record.getEventAttr().getAttr());
  });
  for (auto event : module.getOps<plan::EventOp>())
    if (!recorded.contains(event.getSymNameAttr()))
      return event.emitOpError("expects a plan.record of the event after "
                               "assign-streams, but got none");
  return success();
}

/// Every root has an offset that leaves its bytes inside the arena.
LogicalResult weft::checkOffsets(ModuleOp module) {
  auto arena =
      module->getAttrOfType<IntegerAttr>(plan::PlanDialect::kArenaBytesAttr);
  if (!arena)
    return module.emitError("expects plan.arena_bytes after plan-memory");
  auto check = [&](Operation *op, Type type) -> LogicalResult {
    auto offset = op->getAttrOfType<IntegerAttr>("offset");
    if (!offset)
      return op->emitOpError("expects an offset after plan-memory");
    int64_t bytes = plan::getBufferBytes(cast<MemRefType>(type));
    if (offset.getInt() >= 0 && offset.getInt() <= arena.getInt() - bytes)
      return success();
    return op->emitOpError("expects ")
           << bytes << " bytes inside the arena of " << arena.getInt()
           << " after plan-memory, but got offset " << offset.getInt();
  };
  for (auto state : module.getOps<plan::StateOp>())
    if (failed(check(state, state.getStorageType())))
      return failure();
  for (auto program : module.getOps<plan::ProgramOp>())
    for (Operation &op : program.getBody().front())
      if (isa<plan::UseOp, plan::InputOp, plan::AllocOp>(op) &&
          failed(check(&op, op.getResult(0).getType())))
        return failure();
  return success();
}

/// The executable has the ports that the runtime asks for, and its facts hold.
LogicalResult weft::checkExecutable(ModuleOp module, const Target &target,
                                    StringRef targetName) {
  return success(succeeded(verifyPorts(module)) &&
                 succeeded(verifyFacts(
                     module, {target.getAlignment(), targetName.str()})));
}

/// The phases of a target leave no kernel that its code does not know.
LogicalResult weft::checkKernels(ModuleOp module, const PhaseInfo &phase) {
  for (auto kernel : module.getOps<KernelOp>())
    return kernel.emitOpError("expects no weft kernel after ") << phase.name;
  return success();
}
