//===- GraphContracts.cpp - Contracts of phases on values -----------------===//

#include "Contracts.h"

#include "weft/Abi/Names.h"
#include "weft/Analysis/Implementations.h"
#include "weft/Analysis/KernelLayout.h"
#include "weft/Dist/Dist.h"
#include "weft/Plan/Plan.h"
#include "weft/Support/TomlFile.h"
#include "weft/Weft/Losses.h"
#include "weft/Weft/Precision.h"
#include "weft/Weft/Programs.h"
#include "weft/Weft/Weft.h"

#include <set>

using namespace mlir;
using namespace weft;

static unsigned countPrograms(ModuleOp module, ProgramKind kind) {
  return llvm::count_if(module.getOps<ProgramOp>(), [&](ProgramOp program) {
    return program.getKind() == kind;
  });
}

/// Models, as weft ops with locations.
LogicalResult weft::checkImport(ModuleOp module) {
  for (auto program : module.getOps<plan::ProgramOp>())
    return program.emitOpError("expects no plan program after import");
  WalkResult result = module.walk([](Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>() || !isa<UnknownLoc>(op->getLoc()))
      return WalkResult::advance();
    op->emitOpError("expects a location after import");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// One model program, with a scalar f32 loss or weighted ones.
LogicalResult weft::checkModel(ModuleOp module) {
  unsigned models = countPrograms(module, ProgramKind::Model);
  if (models != 1)
    return module.emitError("expects one program of kind model, but got ")
           << models;
  for (auto program : module.getOps<ProgramOp>()) {
    if (program.getKind() != ProgramKind::Model)
      continue;
    if (failed(findModelOutputs(program)))
      return failure();
  }
  return success();
}

LogicalResult weft::checkNoTies(ModuleOp module) {
  for (auto param : module.getOps<ParamOp>())
    if (param.getTie())
      return param.emitOpError("expects no tied parameter after tie-params");
  return success();
}

/// The module records each file of --groups that it has applied.
LogicalResult weft::checkGroups(ModuleOp module, const FlagValues &flags) {
  auto files = module->getAttrOfType<DictionaryAttr>(kOptionFilesAttr);
  if (!flags.isSet("groups") || (files && files.contains("groups")))
    return success();
  return module.emitError("expects the file of --groups in ")
         << kOptionFilesAttr << " after apply-groups, but got none";
}

LogicalResult weft::checkCasts(ModuleOp module) {
  for (auto program : module.getOps<ProgramOp>())
    if (failed(checkRegionsAreResolved(program)))
      return failure();
  return success();
}

LogicalResult weft::checkPrograms(ModuleOp module) {
  if (countPrograms(module, ProgramKind::Model) != 0)
    return module.emitError("expects no model program after derive-programs");
  for (ProgramKind kind :
       {ProgramKind::Init, ProgramKind::Micro, ProgramKind::Eval})
    if (countPrograms(module, kind) != 1)
      return module.emitError("expects one program of kind ")
             << stringifyProgramKind(kind) << " after derive-programs";
  return success();
}

static LogicalResult checkNoMarks(ProgramOp program, StringRef where) {
  for (Operation &op : program.getBody().front())
    if (op.hasAttr(WeftDialect::kRecomputeAttr))
      return op.emitOpError("expects no ")
             << WeftDialect::kRecomputeAttr << where;
  return success();
}

/// Only forward values are recomputed.
LogicalResult weft::checkRecomputeMarks(ModuleOp module) {
  for (auto program : module.getOps<ProgramOp>())
    if (program.getKind() == ProgramKind::Init &&
        failed(checkNoMarks(program,
                            " in a program of kind init after mark-recompute")))
      return failure();
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

/// No later pass recomputes marked ops.
LogicalResult weft::checkGradients(ModuleOp module) {
  for (auto program : module.getOps<ProgramOp>())
    if (failed(
            checkNoMarks(program, " after autodiff; run weft-recompute first")))
      return failure();
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

/// A loss scale that changes has a rule and the state of that rule.
LogicalResult weft::checkLossScale(ModuleOp module) {
  SymbolTable symbols(module);
  auto scale = symbols.lookup<StateOp>(names::kLossScale);
  auto state = symbols.lookup<StateOp>(names::kLossScaleState);
  const bool hasRule = scale && scale->hasAttr(WeftDialect::kScalerAttr);
  if (hasRule == bool(state))
    return success();
  return (scale ? scale : state).emitOpError("expects ")
         << WeftDialect::kScalerAttr << " and the state '"
         << names::kLossScaleState << "' after loss-scale, but got only the "
         << (hasRule ? "attribute" : "state");
}

LogicalResult weft::checkApply(ModuleOp module) {
  if (countPrograms(module, ProgramKind::Apply) != 1)
    return module.emitError("expects one program of kind apply");
  std::set<std::string> written = writtenStates(module, ProgramKind::Apply);
  std::set<std::string> first = writtenStates(module, ProgramKind::Init);
  for (auto state : module.getOps<StateOp>()) {
    bool isGradient = state.getKind() == StateKind::Gradient;
    if (isGradient && state.getParam() &&
        !written.count(state.getParam()->str()))
      return state.emitOpError("expects a parameter that apply updates");
    if (!isScratch(state.getKind()) && !first.count(state.getSymName().str()))
      return state.emitOpError("expects a state that init writes");
  }
  return success();
}

LogicalResult weft::checkWorkingCopies(ModuleOp module) {
  SymbolTable symbols(module);
  for (auto state : module.getOps<StateOp>()) {
    if (state.getKind() != StateKind::Working)
      continue;
    auto param = state.getParamAttr()
                     ? symbols.lookup<ParamOp>(state.getParamAttr().getAttr())
                     : ParamOp();
    if (!param)
      return state.emitOpError("expects a parameter that it is a copy of after "
                               "working-copies");
  }
  return success();
}

/// With a mesh, everything that outlives a program has a layout.
LogicalResult weft::checkLayouts(ModuleOp module) {
  if (!dist::findMesh(module))
    return success();
  for (Operation &op : module.getBody()->getOperations())
    if (isa<ParamOp, StateOp>(op) && !dist::getLayout(&op))
      return op.emitOpError("expects ")
             << dist::DistDialect::kLayoutAttr << " after shard";
  return success();
}

/// Sharded parameters are flat, so that their shards are equal.
LogicalResult weft::checkBuckets(ModuleOp module) {
  for (auto param : module.getOps<ParamOp>()) {
    dist::LayoutAttr layout = dist::getLayout(param);
    if (layout && layout.getPlacement() == dist::Placement::Sharded &&
        param.getSegmentList().empty())
      return param.emitOpError("expects segments of a sharded parameter after "
                               "bucket, but got none");
  }
  return success();
}

/// Several ranks reduce the gradients, or whatever is made of them. Without
/// training, ranks with all parameters share nothing on the device.
LogicalResult weft::checkCollectives(ModuleOp module) {
  dist::MeshOp mesh = dist::findMesh(module);
  if (!mesh || dist::getGroups(mesh, StringAttr()).front().size() == 1 ||
      isWithoutTraining(module))
    return success();
  WalkResult result = module.walk([](Operation *op) {
    return isa_and_nonnull<dist::DistDialect>(op->getDialect()) &&
                   !isa<dist::MeshOp>(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return success();
  return mesh.emitOpError("expects collectives among its ranks after "
                          "partition, but got none");
}

LogicalResult weft::checkFormulas(ModuleOp module) {
  for (auto program : module.getOps<ProgramOp>())
    for (Operation &op : program.getBody().front().without_terminator())
      if (isa<CompositeOpInterface>(op) && getImplementation(&op).empty() &&
          !op.hasAttr(WeftDialect::kRepeatsAttr))
        return op.emitOpError("expects its formula in its place after "
                              "decompose");
  return success();
}

LogicalResult weft::checkFusion(ModuleOp module) {
  for (auto program : module.getOps<ProgramOp>())
    for (Operation &op : program.getBody().front().without_terminator())
      if (failed(verifyImplementation(&op)))
        return failure();
  for (auto kernel : module.getOps<KernelOp>())
    if (failed(KernelLayout::get(kernel)))
      return failure();
  return success();
}

LogicalResult weft::checkChoices(ModuleOp module) {
  for (auto program : module.getOps<ProgramOp>())
    for (Operation &op : program.getBody().front().without_terminator())
      if (failed(verifyChoice(&op)))
        return failure();
  return success();
}
