//===- UpdateGroups.cpp - Parameters and the optimizer of each ------------===//

#include "UpdateGroups.h"

#include "weft/Abi/Names.h"
#include "weft/Training/Passes.h"
#include "weft/Weft/Optimizers.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace weft;

static StringRef getText(Operation *op, StringRef name, StringRef fallback) {
  auto text = op->getAttrOfType<StringAttr>(name);
  return text ? text.getValue() : fallback;
}

StringRef weft::getOwnOptimizer(ParamOp param) {
  return getText(param, kOptimizerAttr, "");
}

StringRef weft::getInstance(ParamOp param) {
  return getText(param, kOptimizerGroupAttr, getOwnOptimizer(param));
}

StringRef weft::findForeignNumber(ParamOp param,
                                  const OptimizerInfo &optimizer) {
  if (auto numbers = param->getAttrOfType<DictionaryAttr>(kNumbersAttr))
    for (NamedAttribute number : numbers)
      if (!optimizer.takes(number.getName()))
        return number.getName().getValue();
  return {};
}

FlatSymbolRefAttr Update::getPresence() const {
  return grad->getAttrOfType<FlatSymbolRefAttr>(WeftDialect::kPresenceAttr);
}

Attribute Update::getNumber(StringRef name) const {
  auto numbers = param->getAttrOfType<DictionaryAttr>(kNumbersAttr);
  return numbers ? numbers.get(name) : Attribute();
}

bool Update::isNesterov(bool fallback) const {
  auto own = dyn_cast_or_null<BoolAttr>(getNumber(kNesterov));
  return own ? own.getValue() : fallback;
}

std::string weft::getStateSymbol(ParamOp param, StringRef name) {
  return (param.getSymName() + "." + name).str();
}

RankedTensorType weft::getMomentType(ParamOp param) {
  RankedTensorType type = param.getTensorType();
  if (type.getElementTypeBitWidth() >= 32)
    return type;
  return type.clone(Float32Type::get(param.getContext()));
}

std::string weft::getStepSymbol(StringRef group, FlatSymbolRefAttr presence) {
  std::string symbol = group.empty() ? "step" : ("step." + group).str();
  return presence ? symbol + "." + presence.getValue().str() : symbol;
}

std::string weft::getFoundInfOutput(StringRef group) {
  return (names::kFoundInfOf + (group.empty() ? "default" : group)).str();
}

SmallVector<StringRef> weft::getGroupNames(ArrayRef<Update> updates) {
  SmallVector<StringRef> names;
  for (const Update &update : updates)
    if (!llvm::is_contained(names, update.group))
      names.push_back(update.group);
  return names;
}

SmallVector<StringRef> weft::getInstances(ArrayRef<Update> updates,
                                          const ScalerStates &scaler) {
  return scaler.scale ? getGroupNames(updates) : SmallVector<StringRef>{""};
}

std::vector<std::string> weft::getStepSymbols(ArrayRef<Update> updates) {
  std::vector<std::string> symbols;
  for (StringRef name : getGroupNames(updates))
    symbols.push_back(getStepSymbol(name));
  for (const Update &update : updates) {
    std::string symbol = getStepSymbol(update.group, update.getPresence());
    if (!llvm::is_contained(symbols, symbol))
      symbols.push_back(symbol);
  }
  return symbols;
}

static LogicalResult verifyNumbers(const Update &update) {
  ParamOp param = update.param;
  StringRef foreign = findForeignNumber(param, *update.optimizer);
  if (foreign.empty())
    return success();
  return param.emitOpError("expects a group without `")
         << foreign << "`, which " << update.optimizer->name
         << " does not have";
}

/// An optimizer instance has one update rule: it has one step counter.
static LogicalResult verifyGroups(ArrayRef<Update> updates) {
  llvm::MapVector<StringRef, Update> first;
  for (const Update &update : updates) {
    auto [entry, isNew] = first.insert({update.group, update});
    if (isNew || entry->second.optimizer == update.optimizer)
      continue;
    ParamOp param = update.param;
    InFlightDiagnostic error = param.emitOpError("expects optimizer ")
                               << entry->second.optimizer->name
                               << " as the rest of group \"" << update.group
                               << "\", but got " << update.optimizer->name;
    error.attachNote(entry->second.param.getLoc()) << "the first is here";
    return error;
  }
  return success();
}

FailureOr<SmallVector<Update>>
weft::collectUpdates(ModuleOp module, StringRef defaultOptimizer) {
  DenseMap<StringAttr, StateOp> gradients;
  for (auto state : module.getOps<StateOp>())
    if (state.getKind() == StateKind::Gradient && state.getParamAttr())
      gradients[state.getParamAttr().getAttr()] = state;
  SmallVector<Update> updates;
  for (auto param : module.getOps<ParamOp>()) {
    StateOp grad = gradients.lookup(param.getSymNameAttr());
    if (!param.getTrainable() || !grad)
      continue;
    StringRef own = getOwnOptimizer(param);
    StringRef name = own.empty() ? defaultOptimizer : own;
    const OptimizerInfo *optimizer = findOptimizer(name);
    if (!optimizer)
      return param.emitOpError("expects optimizer to be ")
             << spellOptimizers() << ", but got " << name;
    updates.push_back({param, grad, optimizer, getInstance(param)});
    if (failed(verifyNumbers(updates.back())))
      return failure();
  }
  if (updates.empty())
    return module.emitError("expects a trainable parameter with a gradient "
                            "(weft-autodiff), but got none");
  if (failed(verifyGroups(updates)))
    return failure();
  return updates;
}
