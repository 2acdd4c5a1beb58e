//===- ApplyProgram.cpp - The program that updates ------------------------===//

#include "UpdateGroups.h"

#include "weft/Abi/Names.h"
#include "weft/Training/Passes.h"
#include "weft/Weft/Optimizers.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace weft;

namespace {

/// Values that the updates of one optimizer instance share.
struct Group {
  Value norm, foundInf;
  Value skip; // found_inf, or a step without targets
};

/// When an update happens.
struct Turn {
  Value skip, step;
};

class ApplyBuilder {
public:
  ApplyBuilder(ProgramOp init, ArrayRef<Update> updates, ScalerStates scaler,
               double p, bool nesterov)
      : init(init), module(init->getParentOfType<ModuleOp>()), updates(updates),
        scaler(scaler), p(p), nesterov(nesterov),
        names(getInstances(updates, scaler)), builder(module.getContext()),
        number(RankedTensorType::get({}, builder.getF64Type())),
        flag(RankedTensorType::get({}, builder.getI1Type())),
        scalar(RankedTensorType::get({}, builder.getF32Type())) {}

  void build();

private:
  // The frame of the program.
  StringAttr getDecayInput(const OptimizerInfo &optimizer);
  SmallVector<StringRef> getInputs();
  SmallVector<std::pair<std::string, Type>> getOutputs();
  ProgramOp createProgram();
  Value read(Location loc, StringRef symbol, Type type);
  Value readState(StateOp state) {
    return read(state.getLoc(), state.getSymName(), state.getTensorType());
  }
  /// The state that says whether a step has no target that counts, or null.
  StateOp findNoTargets() {
    return dyn_cast_or_null<StateOp>(
        SymbolTable::lookupSymbolIn(module, names::kNoTargetsState));
  }
  void write(StringRef target, Value value);

  // The body.
  void buildBody(ProgramOp program);
  void readNoTargets();
  Group checkGradients(StringRef name);
  void buildCoefficient();
  Value countStep(StringRef symbol, Value skip);
  void countSteps();
  Turn getTurn(Update update);
  void buildUpdate(Update update);
  void buildOutputs();
  void updateScaler(Value any);
  Value getNumber(Update update, StringRef name);
  SmallVector<NamedAttribute> getAttributes(Update update);
  /// Without a scale there is one group, as all of them stop together.
  StringRef groupOf(Update update) {
    return scaler.scale ? update.group : StringRef();
  }

  ProgramOp init;
  ModuleOp module;
  ArrayRef<Update> updates;
  llvm::SmallSetVector<const OptimizerInfo *, 4> optimizers; // of the updates
  ScalerStates scaler;
  double p;
  bool nesterov;
  SmallVector<StringRef> names; // of the groups
  OpBuilder builder;
  Type number, flag, scalar;
  // Values of the body.
  llvm::StringMap<Value> inputs;
  llvm::StringMap<Group> groups;
  llvm::StringMap<Turn> turns; // by the symbol of their counter
  DenseMap<Attribute, Value> constants;
  Value scale, norm, coefficient;
  Value noTargets; // null where every step has some
  DenseMap<Operation *, Value> gradients;
  // Operands of the terminator: outputs and writes.
  SmallVector<Value> outputs;
  SmallVector<Attribute> targets;
  SmallVector<Value> written;
};

} // namespace

//===----------------------------------------------------------------------===//
// Frame
//===----------------------------------------------------------------------===//

StringAttr ApplyBuilder::getDecayInput(const OptimizerInfo &optimizer) {
  if (optimizers.empty())
    for (const Update &update : updates)
      optimizers.insert(update.optimizer);
  return builder.getStringAttr(
      weft::getDecayInput(optimizer, optimizers.getArrayRef()));
}

SmallVector<StringRef> ApplyBuilder::getInputs() {
  SmallVector<StringRef> list(getOptimizerNumbers());
  list.push_back(names::kMaxNorm);
  for (const Update &update : updates)
    if (StringAttr decay = getDecayInput(*update.optimizer);
        !llvm::is_contained(list, decay.getValue()))
      list.push_back(decay);
  return list;
}

/// Names and types of the outputs. buildOutputs builds their values.
SmallVector<std::pair<std::string, Type>> ApplyBuilder::getOutputs() {
  SmallVector<std::pair<std::string, Type>> list = {{names::kGradNorm, number},
                                                    {names::kFoundInf, flag}};
  if (names.size() > 1)
    for (StringRef name : names)
      list.push_back({getFoundInfOutput(name), flag});
  if (scaler.scale)
    list.push_back({names::kLossScale, scalar});
  if (scaler.state)
    list.push_back({names::kScaleExhausted, flag});
  if (findNoTargets())
    list.push_back({names::kNoTargets, flag});
  return list;
}

ProgramOp ApplyBuilder::createProgram() {
  auto named = [&](StringRef attribute, StringRef name) {
    return builder.getDictionaryAttr(
        builder.getNamedAttr(attribute, builder.getStringAttr(name)));
  };
  SmallVector<Type> types(getInputs().size(), number), resultTypes;
  SmallVector<Attribute> argAttrs, resAttrs;
  for (StringRef name : getInputs())
    argAttrs.push_back(named(WeftDialect::kInputAttr, name));
  for (const auto &[name, type] : getOutputs()) {
    resAttrs.push_back(named(WeftDialect::kOutputAttr, name));
    resultTypes.push_back(type);
  }
  builder.setInsertionPointToEnd(module.getBody());
  auto program = ProgramOp::create(
      builder, module.getLoc(), builder.getStringAttr(names::kApply),
      TypeAttr::get(builder.getFunctionType(types, resultTypes)),
      ProgramKindAttr::get(builder.getContext(), ProgramKind::Apply),
      builder.getArrayAttr(argAttrs), builder.getArrayAttr(resAttrs));
  SmallVector<Location> locations(types.size(), module.getLoc());
  builder.createBlock(&program.getBody(), {}, types, locations);
  return program;
}

Value ApplyBuilder::read(Location loc, StringRef symbol, Type type) {
  return ReadOp::create(builder, loc, type, symbol);
}

void ApplyBuilder::write(StringRef target, Value value) {
  targets.push_back(FlatSymbolRefAttr::get(builder.getContext(), target));
  written.push_back(value);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Whether the loss of the step is the mean of no target at all. Then nothing
/// changes, the loss scale included.
void ApplyBuilder::readNoTargets() {
  StateOp state = findNoTargets();
  if (!state)
    return;
  Value none = readState(state);
  Value zero = ConstantOp::create(
      builder, state.getLoc(),
      cast<ElementsAttr>(builder.getZeroAttr(state.getTensorType())));
  noTargets =
      CompareOp::create(builder, state.getLoc(), Predicate::NE, none, zero);
}

/// Norm and flag of the gradients as they are, times the scale.
Group ApplyBuilder::checkGradients(StringRef name) {
  SmallVector<Value> grads;
  for (Update update : updates)
    if (groupOf(update) == name)
      grads.push_back(gradients[update.grad] = readState(update.grad));
  auto check = NormAndCheckOp::create(builder, module.getLoc(), number, flag,
                                      grads, builder.getF64FloatAttr(p));
  Value skip = check.getFoundInf();
  if (noTargets)
    skip = OrOp::create(builder, module.getLoc(), skip, noTargets);
  return {check.getNorm(), check.getFoundInf(), skip};
}

/// The scale that the gradients carry is the one at entry of the program.
void ApplyBuilder::buildCoefficient() {
  norm = groups[names.front()].norm;
  if (scaler.scale) {
    scale = readState(scaler.scale);
    SmallVector<Value> norms, skips;
    for (StringRef name : names) {
      norms.push_back(groups[name].norm);
      skips.push_back(groups[name].foundInf);
    }
    norm = TotalNormOp::create(builder, module.getLoc(), number, norms, skips,
                               scale, builder.getF64FloatAttr(p));
  }
  coefficient = ClipCoefficientOp::create(builder, module.getLoc(), scalar,
                                          norm, inputs[names::kMaxNorm], scale);
}

Value ApplyBuilder::countStep(StringRef symbol, Value skip) {
  auto type = RankedTensorType::get({}, builder.getI64Type());
  Value old = read(module.getLoc(), symbol, type);
  Value step =
      StepIncrementOp::create(builder, module.getLoc(), type, old, skip);
  write(symbol, step);
  return step;
}

/// One counter for each instance, even where all of them stop together.
void ApplyBuilder::countSteps() {
  for (Update update : updates) {
    std::string symbol = getStepSymbol(update.group);
    Turn &turn = turns[symbol];
    if (turn.skip)
      continue;
    turn.skip = groups[groupOf(update)].skip;
    turn.step = countStep(symbol, turn.skip);
  }
}

/// Those of the instance; where no micro-step had a gradient there is no update
/// and no step, as of PyTorch's gradients that are None.
Turn ApplyBuilder::getTurn(Update update) {
  FlatSymbolRefAttr presence = update.getPresence();
  if (!presence)
    return turns[getStepSymbol(update.group)];
  std::string symbol = getStepSymbol(update.group, presence);
  Turn &turn = turns[symbol];
  if (turn.skip)
    return turn;
  Location loc = module.getLoc();
  Value count = read(loc, presence.getValue(), scalar);
  Value none = ConstantOp::create(
      builder, loc, cast<ElementsAttr>(builder.getZeroAttr(scalar)));
  Value isThere = CompareOp::create(builder, loc, Predicate::GT, count, none);
  Value absent = NotOp::create(builder, loc, isThere);
  turn.skip = OrOp::create(builder, loc, groups[groupOf(update)].skip, absent);
  turn.step = countStep(symbol, turn.skip);
  return turn;
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// The hyper-parameter: the group's own, else the input.
Value ApplyBuilder::getNumber(Update update, StringRef name) {
  Attribute own = update.getNumber(name);
  if (!own && name == names::kWeightDecay)
    return inputs[getDecayInput(*update.optimizer)];
  if (!own)
    return inputs[name];
  Value &constant = constants[own];
  if (!constant)
    constant = ConstantOp::create(builder, module.getLoc(),
                                  cast<ElementsAttr>(DenseElementsAttr::get(
                                      cast<RankedTensorType>(number), own)));
  return constant;
}

SmallVector<NamedAttribute> ApplyBuilder::getAttributes(Update update) {
  ParamOp param = update.param;
  SmallVector<NamedAttribute> attributes;
  if (Attribute factor = param->getAttr(kLrScaleAttr))
    attributes.push_back(builder.getNamedAttr("lr_scale", factor));
  Attribute decay = param->getAttr(kDecayScaleAttr);
  if (!param.decays() || !decay)
    decay = builder.getF64FloatAttr(param.decays() ? 1.0 : 0.0);
  attributes.push_back(builder.getNamedAttr("decay_scale", decay));
  if (update.optimizer->hasFlag(kNesterov) && update.isNesterov(nesterov))
    attributes.push_back(
        builder.getNamedAttr(kNesterov, builder.getUnitAttr()));
  if (StringAttr scope = param.getScopeAttr())
    attributes.push_back(builder.getNamedAttr(WeftDialect::kScopeAttr, scope));
  return attributes;
}

/// One update op; every result is written back where its operand came from.
void ApplyBuilder::buildUpdate(Update update) {
  ParamOp param = update.param;
  SmallVector<std::string> symbols = {param.getSymName().str()};
  SmallVector<Value> operands = {
      read(param.getLoc(), symbols.front(), param.getTensorType())};
  for (StringRef name : update.optimizer->states) {
    symbols.push_back(getStateSymbol(param, name));
    operands.push_back(
        read(param.getLoc(), symbols.back(), getMomentType(param)));
  }
  SmallVector<Type> types;
  for (Value operand : operands)
    types.push_back(operand.getType());
  Turn turn = getTurn(update);
  operands.append(
      {gradients.lookup(update.grad), coefficient, turn.skip, turn.step});
  for (StringRef name : update.optimizer->numbers)
    operands.push_back(getNumber(update, name));
  OperationState state(param.getLoc(), ("weft." + update.optimizer->name).str(),
                       operands, types, getAttributes(update));
  Operation *op = builder.create(state);
  for (auto [symbol, value] : llvm::zip(symbols, op->getResults()))
    write(symbol, value);
}

//===----------------------------------------------------------------------===//
// Scale
//===----------------------------------------------------------------------===//

/// The next scale comes last: everything above has used the old one.
void ApplyBuilder::buildOutputs() {
  Value any = groups[names.front()].foundInf;
  for (StringRef name : ArrayRef(names).drop_front())
    any = OrOp::create(builder, module.getLoc(), any, groups[name].foundInf);
  outputs = {norm, any};
  if (names.size() > 1)
    for (StringRef name : names)
      outputs.push_back(groups[name].foundInf);
  if (scaler.scale)
    outputs.push_back(scale);
  if (scaler.state)
    updateScaler(any);
  if (noTargets)
    outputs.push_back(noTargets);
}

/// A step without targets says nothing of the scale.
void ApplyBuilder::updateScaler(Value any) {
  auto numbers =
      scaler.scale->getAttrOfType<ScalerAttr>(WeftDialect::kScalerAttr);
  Value old = readState(scaler.state);
  auto update =
      ScalerUpdateOp::create(builder, module.getLoc(), scalar, old.getType(),
                             flag, scale, old, any, numbers);
  auto keep = [&](Value before, Value after) -> Value {
    if (!noTargets)
      return after;
    return SelectOp::create(builder, module.getLoc(), noTargets, before, after);
  };
  write(scaler.scale.getSymName(), keep(scale, update.getNewScale()));
  write(scaler.state.getSymName(), keep(old, update.getNewState()));
  outputs.push_back(update.getExhausted());
}

void ApplyBuilder::buildBody(ProgramOp program) {
  for (StringRef name : getInputs())
    inputs[name] = program.findInput(name);
  readNoTargets();
  for (StringRef name : names)
    groups[name] = checkGradients(name);
  buildCoefficient();
  countSteps();
  for (Update update : updates)
    buildUpdate(update);
  buildOutputs();
  ReturnOp::create(builder, module.getLoc(), outputs, written,
                   builder.getArrayAttr(targets));
}

void ApplyBuilder::build() {
  declareOptimizerStates(init, updates);
  buildBody(createProgram());
  recordTraining(module, updates, scaler);
}

void weft::buildApplyProgram(ProgramOp init, ArrayRef<Update> updates,
                             ScalerStates scaler, double p, bool nesterov) {
  ApplyBuilder(init, updates, scaler, p, nesterov).build();
}
