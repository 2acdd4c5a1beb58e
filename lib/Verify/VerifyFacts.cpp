//===- VerifyFacts.cpp - Check the attributes of a plan -------------------===//
//
// Attributes of the module and kinds of states determine how a run accepts,
// saves and reports data. They may have been edited: attributes that can be
// derived from commands, states or inputs must match them.
//
//===----------------------------------------------------------------------===//

#include "weft/Verify/VerifyExecutable.h"

#include "weft/Abi/Names.h"
#include "weft/Analysis/IndexRules.h"
#include "weft/Analysis/PlanQueries.h"
#include "weft/Formats/ProgramPorts.h"
#include "weft/Weft/IndexInputs.h"
#include "weft/Weft/Optimizers.h"
#include "weft/Weft/Weft.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

/// The role of the state for its parameter: "exp_avg".
static StringRef getSlot(plan::StateOp state) {
  if (StringAttr slot = state.getSlotName())
    return slot.getValue();
  StringRef name = state.getSymName();
  if (state.getOwner() && name.consume_front(state.getOwner().getValue()))
    name.consume_front(".");
  return name;
}

/// The parameters that the state stores, or belongs to. For a flat state, the
/// parameters of its segments, because flat states may have another layout than
/// flat parameters.
static SmallVector<StringRef> getParameters(plan::StateOp state) {
  SmallVector<StringRef> names;
  for (const Segment &segment : state.getSegmentList())
    names.push_back(segment.param.getValue());
  if (!names.empty())
    return names;
  if (state.getKind() == plan::StateKind::Param)
    return {state.getSymName()};
  if (state.getOwner())
    names.push_back(state.getOwner().getValue());
  return names;
}

/// Whether an optimizer has such a state. A module may have other states as
/// well.
static bool isKnownSlot(StringRef slot) {
  return llvm::any_of(getOptimizers(), [&](const OptimizerInfo *optimizer) {
    return llvm::is_contained(optimizer->states, slot);
  });
}

/// The optimizer states of each parameter that has a gradient.
static llvm::MapVector<StringRef, SmallVector<StringRef>>
collectSlots(ModuleOp module) {
  llvm::MapVector<StringRef, SmallVector<StringRef>> slots;
  for (auto state : module.getOps<plan::StateOp>()) {
    for (StringRef param : getParameters(state)) {
      if (state.getKind() == plan::StateKind::Gradient)
        slots[param];
      if (state.getKind() == plan::StateKind::Optimizer &&
          isKnownSlot(getSlot(state)))
        slots[param].push_back(getSlot(state));
    }
  }
  return slots;
}

static bool isKeptBy(ArrayRef<StringRef> slots,
                     const OptimizerInfo *optimizer) {
  return slots.size() == optimizer->states.size() &&
         llvm::all_of(slots, [&](StringRef slot) {
           return llvm::is_contained(optimizer->states, slot);
         });
}

/// Checks that each parameter has the states of one of the optimizers, and that
/// each optimizer has a parameter.
static LogicalResult verifyOptimizers(ModuleOp module) {
  SmallVector<const OptimizerInfo *> optimizers = findOptimizers(module);
  if (optimizers.empty())
    return module.emitError("expects ")
           << kOptimizersAttr
           << " to name the optimizers of its update, but got none";
  SmallVector<StringRef> names;
  for (const OptimizerInfo *optimizer : optimizers)
    names.push_back(optimizer->name);
  auto slots = collectSlots(module);
  for (const auto &entry : slots)
    if (llvm::none_of(optimizers, [&](const OptimizerInfo *optimizer) {
          return isKeptBy(entry.second, optimizer);
        }))
      return module.emitError("expects ")
             << kOptimizersAttr << " to name the optimizer of @" << entry.first
             << ", which keeps '" << llvm::join(entry.second, "', '")
             << "', but got " << llvm::join(names, ", ");
  for (const OptimizerInfo *optimizer : optimizers)
    if (llvm::none_of(slots, [&](const auto &entry) {
          return isKeptBy(entry.second, optimizer);
        }))
      return module.emitError("expects a parameter that keeps '")
             << llvm::join(optimizer->states, "', '") << "', as "
             << optimizer->name << " of " << kOptimizersAttr
             << " does, but got none";
  return success();
}

/// The step counters: optimizer states without a parameter.
static llvm::StringSet<> findCounters(ModuleOp module) {
  llvm::StringSet<> names;
  for (auto state : module.getOps<plan::StateOp>())
    if (state.getKind() == plan::StateKind::Optimizer &&
        getParameters(state).empty())
      names.insert(state.getSymName());
  return names;
}

/// If there are several counters, each trained parameter has one of them: a
/// resumed run identifies a counter by its parameters.
static LogicalResult verifyCounters(ModuleOp module) {
  auto counters = module->getAttrOfType<DictionaryAttr>(kCountersAttr);
  llvm::StringSet<> names = findCounters(module), counted;
  if (!counters && names.size() < 2)
    return success();
  auto report = [&]() {
    return module.emitError("expects ") << kCountersAttr << " to name ";
  };
  auto slots = collectSlots(module);
  for (NamedAttribute counter :
       counters ? counters.getValue() : ArrayRef<NamedAttribute>()) {
    if (!names.contains(counter.getName()))
      return report() << "step counters, but got " << counter.getName();
    for (auto param :
         cast<ArrayAttr>(counter.getValue()).getAsRange<StringAttr>())
      if (!slots.contains(param.getValue()) ||
          !counted.insert(param.getValue()).second)
        return report() << "each trained parameter once, but got '"
                        << param.getValue() << "'";
  }
  for (const auto &entry : slots)
    if (!counted.contains(entry.first))
      return report() << "the step counter of @" << entry.first
                      << ", but got none";
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
  llvm::StringSet<> trained;
  for (auto state : module.getOps<plan::StateOp>())
    if (state.getKind() == plan::StateKind::Gradient)
      for (StringRef param : getParameters(state))
        trained.insert(param);
  for (auto state : module.getOps<plan::StateOp>())
    if (state.getKind() == plan::StateKind::Param && state.getOwner())
      return state.emitOpError("expects no param on a parameter, but got ")
             << state.getOwner();
  WalkResult result = module.walk([&](plan::CommandOpInterface command) {
    auto program = command->getParentOfType<plan::ProgramOp>();
    if (program.getKind() == names::kInit)
      return WalkResult::advance();
    for (auto [index, buffer] : llvm::enumerate(command->getOperands())) {
      auto use = plan::getRoot(buffer).getDefiningOp<plan::UseOp>();
      if (!use || !command.isWritten(index))
        continue;
      auto state = symbols.lookup<plan::StateOp>(use.getState());
      auto isTrained = [&](StringRef param) { return trained.contains(param); };
      if (state.getKind() == plan::StateKind::Param &&
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

static LogicalResult verifyIndexInput(ModuleOp module, plan::ProgramOp micro,
                                      DictionaryAttr note) {
  StringRef name = note.getAs<StringAttr>("name").getValue();
  plan::InputOp input = findInput(micro, name);
  if (!input || !holdsIntegers(input) || isFilledByHost(name)) {
    std::vector<std::string> known;
    for (auto other : micro.getBody().front().getOps<plan::InputOp>())
      if (holdsIntegers(other) && !isFilledByHost(other.getName().str()))
        known.push_back(other.getName().str());
    return module.emitError("expects ")
           << kIndexInputsAttr << " to name data of i32 or i64 that @"
           << micro.getSymName() << " reads, " << spellNames(known)
           << ", but got '" << name << "'";
  }
  int64_t limit = note.getAs<IntegerAttr>("limit").getInt();
  llvm::SmallSetVector<int64_t, 2> told = findClassCounts(input);
  if (told.empty() || told.contains(limit))
    return success();
  InFlightDiagnostic error = module.emitError("expects ")
                             << kIndexInputsAttr << " to limit '" << name
                             << "' to " << told.front()
                             << ", the classes that it is compared with, but "
                                "got "
                             << limit;
  error.attachNote(input.getLoc()) << "the input is here";
  return error;
}

static LogicalResult verifyIndexInputs(ModuleOp module) {
  auto notes = module->getAttrOfType<ArrayAttr>(kIndexInputsAttr);
  auto micro = findProgram(module, names::kMicro);
  if (!notes || !micro)
    return success();
  for (auto note : notes.getAsRange<DictionaryAttr>())
    if (failed(verifyIndexInput(module, micro, note)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// All attributes
//===----------------------------------------------------------------------===//

/// Offsets are multiples of the alignment of the module, which must be a
/// multiple of the alignment that the target requires.
static LogicalResult verifyAlignment(ModuleOp module,
                                     const RequiredAlignment &required) {
  const int64_t alignment = getBufferAlignment(module);
  if (alignment % required.bytes == 0)
    return success();
  return module.emitError("expects ")
         << plan::PlanDialect::kAlignmentAttr << ", a multiple of "
         << required.bytes << " for " << required.target << ", but got "
         << alignment;
}

/// Only a module attribute describes how the loss scale changes: without it, a
/// run takes the scale as fixed.
static LogicalResult verifyScaler(ModuleOp module) {
  auto changes =
      SymbolTable(module).lookup<plan::StateOp>(names::kLossScaleState);
  auto scaler = module->getAttrOfType<ScalerAttr>(WeftDialect::kScalerAttr);
  if (bool(changes) == bool(scaler))
    return success();
  if (scaler)
    return module.emitError("expects no ")
           << WeftDialect::kScalerAttr << ", since there is no state '"
           << names::kLossScaleState << "' that a loss scale changes by";
  return changes.emitOpError("expects ")
         << WeftDialect::kScalerAttr
         << " of the module to say how the loss scale changes, but got none";
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
                 succeeded(verifyOptimizers(module)) &&
                 succeeded(verifyCounters(module)) &&
                 succeeded(verifyScaler(module)) &&
                 succeeded(verifyIndexInputs(module)));
}
