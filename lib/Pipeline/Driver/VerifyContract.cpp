//===- VerifyContract.cpp - Checks what a phase promises ------------------===//

#include "weft/Pipeline/Driver/Passes.h"

#include "weft/Abi/Names.h"
#include "weft/Analysis/Implementations.h"
#include "weft/Analysis/KernelLayout.h"
#include "weft/Pipeline/Driver/PhaseTable.h"
#include "weft/Pipeline/Options/CompileFlags.h"
#include "weft/Pipeline/Targets/Target.h"
#include "weft/Plan/Plan.h"
#include "weft/Verify/VerifyExecutable.h"
#include "weft/Weft/Losses.h"
#include "weft/Weft/Precision.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <set>

namespace weft {
#define GEN_PASS_DEF_VERIFYCONTRACTPASS
#include "weft/Pipeline/Driver/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// One check per promise
//===----------------------------------------------------------------------===//

static unsigned countPrograms(ModuleOp module, ProgramKind kind) {
  return llvm::count_if(module.getOps<ProgramOp>(), [&](ProgramOp program) {
    return program.getKind() == kind;
  });
}

/// One model program, with a scalar f32 loss or weighted ones.
static LogicalResult checkModel(ModuleOp module) {
  unsigned models = countPrograms(module, ProgramKind::Model);
  if (models != 1)
    return module.emitError("expects one program of kind model, but got ")
           << models;
  for (auto program : module.getOps<ProgramOp>()) {
    if (program.getKind() != ProgramKind::Model)
      continue;
    if (failed(findLosses(program)))
      return failure();
  }
  return success();
}

static LogicalResult checkNoTies(ModuleOp module) {
  for (auto param : module.getOps<ParamOp>())
    if (param.getTie())
      return param.emitOpError("expects no tied parameter after tie-params");
  return success();
}

static LogicalResult checkCasts(ModuleOp module) {
  for (auto program : module.getOps<ProgramOp>())
    if (failed(checkRegionsAreResolved(program)))
      return failure();
  return success();
}

static LogicalResult checkPrograms(ModuleOp module) {
  if (countPrograms(module, ProgramKind::Model) != 0)
    return module.emitError("expects no model program after derive-programs");
  for (ProgramKind kind :
       {ProgramKind::Init, ProgramKind::Micro, ProgramKind::Eval})
    if (countPrograms(module, kind) != 1)
      return module.emitError("expects one program of kind ")
             << stringifyProgramKind(kind) << " after derive-programs";
  return success();
}

/// Names of the states that programs of `kind` write.
static std::set<std::string> writtenStates(ModuleOp module, ProgramKind kind) {
  std::set<std::string> names;
  for (auto program : module.getOps<ProgramOp>())
    if (program.getKind() == kind)
      for (Attribute target : program.getTerminator().getTargets())
        names.insert(cast<FlatSymbolRefAttr>(target).getValue().str());
  return names;
}

static LogicalResult checkGradients(ModuleOp module) {
  std::set<std::string> gradients = writtenStates(module, ProgramKind::Micro);
  std::set<std::string> counts =
      writtenStates(module, ProgramKind::Denominators);
  for (auto state : module.getOps<StateOp>()) {
    const bool isCount = state.getKind() == StateKind::Denominator;
    if (isMadeByStep(state.getKind()) &&
        !(isCount ? counts : gradients).count(state.getSymName().str()))
      return state.emitOpError("expects a ")
             << stringifyStateKind(state.getKind()) << " that "
             << (isCount ? names::kDenominators : names::kMicro) << " writes";
  }
  return success();
}

static LogicalResult checkApply(ModuleOp module) {
  if (countPrograms(module, ProgramKind::Apply) != 1)
    return module.emitError("expects one program of kind apply");
  std::set<std::string> written = writtenStates(module, ProgramKind::Apply);
  std::set<std::string> first = writtenStates(module, ProgramKind::Init);
  for (auto state : module.getOps<StateOp>()) {
    bool isGradient = state.getKind() == StateKind::Gradient;
    if (isGradient && state.getParam() &&
        !written.count(state.getParam()->str()))
      return state.emitOpError("expects a parameter that apply updates");
    // The first micro-step of a step writes gradients without reading them.
    if (!isMadeByStep(state.getKind()) &&
        !first.count(state.getSymName().str()))
      return state.emitOpError("expects a state that init writes");
  }
  return success();
}

static LogicalResult checkFusion(ModuleOp module) {
  for (auto program : module.getOps<ProgramOp>())
    for (Operation &op : program.getBody().front().without_terminator())
      if (failed(verifyImplementation(&op)))
        return failure();
  for (auto kernel : module.getOps<KernelOp>())
    if (failed(KernelLayout::get(kernel)))
      return failure();
  return success();
}

static LogicalResult checkChoices(ModuleOp module) {
  for (auto program : module.getOps<ProgramOp>())
    for (Operation &op : program.getBody().front().without_terminator())
      if (failed(verifyChoice(&op)))
        return failure();
  return success();
}

static LogicalResult checkPlan(ModuleOp module) {
  for (auto program : module.getOps<ProgramOp>())
    return program.emitOpError("expects no weft program after lower-to-plan");
  return success();
}

static LogicalResult checkEstimates(ModuleOp module) {
  WalkResult result = module.walk([](plan::CommandOpInterface command) {
    // Which is a number of at least 0: of its verifier.
    if (command.getEstUsAttr())
      return WalkResult::advance();
    command->emitOpError("expects an est_us after estimate");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Every root has an offset that leaves its bytes inside the arena.
static LogicalResult checkOffsets(ModuleOp module) {
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
    if (failed(check(state, state.getBufferType())))
      return failure();
  for (auto program : module.getOps<plan::ProgramOp>())
    for (Operation &op : program.getBody().front())
      if (isa<plan::UseOp, plan::InputOp, plan::AllocOp>(op) &&
          failed(check(&op, op.getResult(0).getType())))
        return failure();
  return success();
}

/// The executable has the ports that the runtime asks for, and its facts hold.
static LogicalResult checkExecutable(ModuleOp module, const Target &target,
                                     StringRef targetName) {
  return success(succeeded(verifyPorts(module)) &&
                 succeeded(verifyFacts(
                     module, {target.getAlignment(), targetName.str()})));
}

/// The phases of a target leave no kernel that its code does not know.
static LogicalResult checkKernels(ModuleOp module, const Phase &phase) {
  for (auto kernel : module.getOps<KernelOp>())
    return kernel.emitOpError("expects no weft kernel after ") << phase.name;
  return success();
}

namespace {
struct Contract {
  const char *phase;
  LogicalResult (*check)(ModuleOp);
};
} // namespace

/// Each check holds from its phase on, until the level changes.
static const Contract kContracts[] = {
    {"verify", checkModel},           {"tie-params", checkNoTies},
    {"autocast", checkCasts},         {"derive-programs", checkPrograms},
    {"autodiff", checkGradients},     {"expand-optimizer", checkApply},
    {"select-kernels", checkChoices}, {"fuse", checkFusion},
    {"lower-to-plan", checkPlan},     {"estimate", checkEstimates},
    {"plan-memory", checkOffsets},
};

LogicalResult weft::verifyContract(ModuleOp module, const Phase &phase,
                                   const Target &target,
                                   const FlagValues &flags) {
  for (const Contract &contract : kContracts)
    if (StringRef(phase.name) == contract.phase &&
        failed(contract.check(module)))
      return failure();
  if (StringRef(phase.name) == "verify-plan")
    return checkExecutable(module, target, flags.getText("target"));
  return phase.level == Level::Llvm ? checkKernels(module, phase) : success();
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
    int index = phases->find(phase);
    if (index < 0)
      return module.emitError("expects the name of a phase, but got '")
             << phase << "'";
    return verifyContract(module, (*phases)[index], phases->target(), *flags);
  }
};
} // namespace
