//===- VerifyContract.cpp - Checks the contract of a phase ----------------===//

#include "weft/Pipeline/Driver/Passes.h"

#include "Contracts.h"

#include "weft/Frontend/Passes.h"
#include "weft/Pipeline/Driver/PhaseTable.h"
#include "weft/Pipeline/Options/CompileFlags.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace weft {
#define GEN_PASS_DEF_VERIFYCONTRACTPASS
#include "weft/Pipeline/Driver/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Each check holds from its phase on, until the level changes.
LogicalResult weft::verifyContract(ModuleOp module, const PhaseInfo &phase,
                                   const Target &target,
                                   const FlagValues &flags) {
  switch (phase.phase) {
  case Phase::Import:
    return checkImport(module);
  case Phase::Verify:
    return checkModel(module);
  case Phase::TieParams:
    return checkNoTies(module);
  case Phase::InferShapes:
    return verifyShapes(module);
  case Phase::ApplyGroups:
    return checkGroups(module, flags);
  case Phase::Autocast:
    return checkCasts(module);
  case Phase::DerivePrograms:
    return checkPrograms(module);
  case Phase::MarkRecompute:
    return checkRecomputeMarks(module);
  case Phase::Autodiff:
    return checkGradients(module);
  case Phase::LossScale:
    return checkLossScale(module);
  case Phase::ExpandOptimizer:
    return checkApply(module);
  case Phase::WorkingCopies:
    return checkWorkingCopies(module);
  case Phase::Shard:
    return checkLayouts(module);
  case Phase::Bucket:
    return checkBuckets(module);
  case Phase::Partition:
    return checkCollectives(module);
  case Phase::SelectKernels:
    return checkChoices(module);
  case Phase::Decompose:
    return checkFormulas(module);
  case Phase::Fuse:
    return checkFusion(module);
  case Phase::LowerToPlan:
    return checkPlan(module);
  case Phase::AlignProducts:
  case Phase::GroupLaunches:
    return checkUnplaced(module, phase);
  case Phase::Estimate:
    return checkEstimates(module);
  case Phase::Schedule:
    return checkOverlap(module, flags);
  case Phase::AssignStreams:
    return checkEvents(module);
  case Phase::PlanMemory:
    return checkOffsets(module);
  case Phase::VerifyPlan:
    return checkExecutable(module, target, flags.getText("target"));
  case Phase::LowerToTarget:
  case Phase::Emit:
    return checkKernels(module, phase);
  }
  llvm_unreachable("a phase without a contract");
}

namespace {
struct VerifyContractPass
    : weft::impl::VerifyContractPassBase<VerifyContractPass> {
  using VerifyContractPassBase::VerifyContractPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verify(module)))
      signalPassFailure();
  }

  /// The target among the options of the module says which phases there are.
  LogicalResult verify(ModuleOp module) {
    Expected<FlagValues> flags = optionsOf(module);
    if (!flags)
      return module.emitError(flags.error().message());
    Expected<PhaseTable> phases = PhaseTable::get(*flags);
    if (!phases)
      return module.emitError(phases.error().message());
    int index = phases->find(llvm::StringRef(phase));
    if (index < 0)
      return module.emitError("expects the name of a phase, but got '")
             << phase << "'";
    return verifyContract(module, (*phases)[index], phases->target(), *flags);
  }
};
} // namespace
