//===- VerifyFacts.cpp - Check the attributes of a plan -------------------===//
//
// Attributes of the module and kinds of states determine how a run accepts,
// saves and reports data. They may have been edited: attributes that can be
// derived from commands, states or inputs must match them.
//
//===----------------------------------------------------------------------===//

#include "weft/Verify/VerifyExecutable.h"

#include "VerifyPlan.h"
#include "weft/Abi/Names.h"
#include "weft/Analysis/PlanQueries.h"
#include "weft/Formats/ProgramPorts.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Parameters and step counters
//===----------------------------------------------------------------------===//

/// The parameters that the state stores, or belongs to. For a flat state, the
/// parameters of its segments, because flat states may have another layout than
/// flat parameters.
static SmallVector<StringRef> getParameters(plan::StateOp state) {
  SmallVector<StringRef> names;
  for (const Segment &segment : state.getSegmentList())
    names.push_back(segment.param.getValue());
  if (!names.empty())
    return names;
  if (state.getKind() == StateKind::Param)
    return {state.getSymName()};
  if (state.getOwner())
    names.push_back(state.getOwner().getValue());
  return names;
}

/// The trained parameters: those with a gradient.
static llvm::SetVector<StringRef> findTrained(ModuleOp module) {
  llvm::SetVector<StringRef> trained;
  for (auto state : module.getOps<plan::StateOp>())
    if (state.getKind() == StateKind::Gradient)
      trained.insert_range(getParameters(state));
  return trained;
}

/// The step counters: optimizer states without a parameter.
static llvm::StringSet<> findCounters(ModuleOp module) {
  llvm::StringSet<> names;
  for (auto state : module.getOps<plan::StateOp>())
    if (state.getKind() == StateKind::Optimizer && getParameters(state).empty())
      names.insert(state.getSymName());
  return names;
}

/// If there are several counters, each trained parameter has one of them: a
/// resumed run identifies a counter by its parameters.
static LogicalResult verifyCounters(ModuleOp module, TrainingAttr training) {
  DictionaryAttr counters = training.getCounters();
  llvm::StringSet<> names = findCounters(module), counted;
  if (!counters && names.size() < 2)
    return success();
  auto report = [&]() {
    return module.emitError("expects counters of ")
           << WeftDialect::kTrainingAttr << " to name ";
  };
  llvm::SetVector<StringRef> trained = findTrained(module);
  for (NamedAttribute counter :
       counters ? counters.getValue() : ArrayRef<NamedAttribute>()) {
    if (!names.contains(counter.getName()))
      return report() << "step counters, but got " << counter.getName();
    for (StringRef param :
         cast<ArrayAttr>(counter.getValue()).getAsValueRange<StringAttr>())
      if (!trained.contains(param) || !counted.insert(param).second)
        return report() << "each trained parameter once, but got '" << param
                        << "'";
  }
  for (StringRef param : trained)
    if (!counted.contains(param))
      return report() << "the step counter of @" << param << ", but got none";
  return success();
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

static LogicalResult reportUntrained(plan::StateOp state, Operation *writer) {
  auto program = writer->getParentOfType<plan::ProgramOp>();
  InFlightDiagnostic error =
      state.emitOpError("expects a gradient of a parameter that @")
      << program.getSymName() << " updates, but got none of @"
      << state.getSymName();
  error.attachNote(writer->getLoc()) << "updated here";
  return error;
}

/// A parameter must be trained if programs other than `init` write it.
/// Otherwise a checkpoint would save another kind of state as a parameter.
static LogicalResult verifyParameters(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::SetVector<StringRef> trained = findTrained(module);
  for (auto state : module.getOps<plan::StateOp>())
    if (state.getKind() == StateKind::Param && state.getOwner())
      return state.emitOpError("expects no param on a parameter, but got ")
             << state.getOwner();
  WalkResult result = module.walk([&](plan::CommandOpInterface command) {
    auto program = command->getParentOfType<plan::ProgramOp>();
    if (program.getKind() == ProgramKind::Init)
      return WalkResult::advance();
    for (auto [index, buffer] : llvm::enumerate(command->getOperands())) {
      auto use = plan::getRoot(buffer).getDefiningOp<plan::UseOp>();
      if (!use || !command.isWritten(index))
        continue;
      auto state = symbols.lookup<plan::StateOp>(use.getState());
      auto isTrained = [&](StringRef param) { return trained.contains(param); };
      if (state.getKind() == StateKind::Param &&
          llvm::none_of(getParameters(state), isTrained)) {
        (void)reportUntrained(state, command);
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Inputs that are indices
//===----------------------------------------------------------------------===//

static plan::InputOp findInput(plan::ProgramOp program, StringRef name) {
  for (auto input : program.getBody().front().getOps<plan::InputOp>())
    if (input.getName() == name)
      return input;
  return nullptr;
}

static bool holdsIntegers(plan::InputOp input) {
  auto type = cast<MemRefType>(input.getBuffer().getType());
  return type.getElementType().isInteger(32) ||
         type.getElementType().isInteger(64);
}

static LogicalResult verifyIndexInputs(ModuleOp module, TrainingAttr training) {
  plan::ProgramOp micro = findProgram(module, ProgramKind::Micro);
  if (!training.getIndexInputs() || !micro)
    return success();
  for (auto each : training.getIndexInputs().getAsRange<IndexInputAttr>()) {
    StringRef name = each.getName();
    plan::InputOp input = findInput(micro, name);
    if (input && holdsIntegers(input) && !isFilledByHost(name))
      continue;
    std::vector<std::string> known;
    for (auto other : micro.getBody().front().getOps<plan::InputOp>())
      if (holdsIntegers(other) && !isFilledByHost(other.getName().str()))
        known.push_back(other.getName().str());
    return module.emitError("expects index_inputs of ")
           << WeftDialect::kTrainingAttr << " to name data of i32 or i64 that @"
           << micro.getSymName() << " reads, " << spellNames(known)
           << ", but got '" << name << "'";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Metrics
//===----------------------------------------------------------------------===//

static LogicalResult verifyMetrics(ModuleOp module, TrainingAttr training) {
  plan::ProgramOp micro = findProgram(module, ProgramKind::Micro);
  if (!training.getMetrics() || !micro)
    return success();
  std::vector<std::string> known;
  for (auto output : micro.getBody().front().getOps<plan::OutputOp>())
    if (output.getName() != names::kLoss)
      known.push_back(output.getName().str());
  for (auto name : training.getMetrics().getAsRange<StringAttr>())
    if (!llvm::is_contained(known, name.getValue()))
      return module.emitError("expects metrics of ")
             << WeftDialect::kTrainingAttr << " to name outputs of @"
             << micro.getSymName() << " beside the loss, " << spellNames(known)
             << ", but got '" << name.getValue() << "'";
  return success();
}

//===----------------------------------------------------------------------===//
// All attributes
//===----------------------------------------------------------------------===//

/// Offsets are multiples of the alignment of the module, which must be a
/// multiple of the alignment that the target requires.
static LogicalResult verifyAlignment(ModuleOp module,
                                     const RequiredAlignment &required) {
  const FailureOr<int64_t> alignment = getBufferAlignment(module);
  if (failed(alignment))
    return failure();
  if (*alignment % required.bytes == 0)
    return success();
  return module.emitError("expects ")
         << plan::PlanDialect::kAlignmentAttr << ", a multiple of "
         << required.bytes << " for " << required.target << ", but got "
         << *alignment;
}

/// Only `scaler` describes how the loss scale changes: without it, a run takes
/// the scale as fixed.
static LogicalResult verifyScaler(ModuleOp module, TrainingAttr training) {
  auto changes =
      SymbolTable(module).lookup<plan::StateOp>(names::kLossScaleState);
  if (bool(changes) == bool(training.getScaler()))
    return success();
  if (!changes)
    return module.emitError("expects no scaler in ")
           << WeftDialect::kTrainingAttr << ", since there is no state '"
           << names::kLossScaleState << "' that a loss scale changes by";
  return changes.emitOpError("expects a scaler in ")
         << WeftDialect::kTrainingAttr
         << " of the module to say how the loss scale changes, but got none";
}

LogicalResult weft::verifyTraining(ModuleOp module) {
  auto training =
      module->getAttrOfType<TrainingAttr>(WeftDialect::kTrainingAttr);
  return success(!training || (succeeded(verifyCounters(module, training)) &&
                               succeeded(verifyScaler(module, training)) &&
                               succeeded(verifyIndexInputs(module, training)) &&
                               succeeded(verifyMetrics(module, training))));
}

static LogicalResult verifyHasTraining(ModuleOp module) {
  if (module->hasAttr(WeftDialect::kTrainingAttr))
    return success();
  return module.emitError("expects ")
         << WeftDialect::kTrainingAttr
         << " to name the optimizers of its update, but got none";
}

static LogicalResult verifyFingerprint(ModuleOp module) {
  if (module->hasAttr("weft.fingerprint"))
    return success();
  return module.emitError("expects weft.fingerprint, by which checkpoints "
                          "know their model, but got none");
}

LogicalResult weft::verifyFacts(ModuleOp module,
                                const RequiredAlignment &alignment) {
  return success(succeeded(verifyAlignment(module, alignment)) &&
                 succeeded(verifyFingerprint(module)) &&
                 succeeded(verifyParameters(module)) &&
                 succeeded(verifyHasTraining(module)) &&
                 succeeded(verifyTraining(module)));
}
