//===- ExpandOptimizer.cpp - Write the update as the program @apply -------===//

#include "weft/Training/Passes.h"

#include "GroupFile.h"
#include "weft/Weft/Weft.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

#include <limits>

#define DEBUG_TYPE "weft-expand-optimizer"

using namespace mlir;

namespace weft {

#define GEN_PASS_DEF_EXPANDOPTIMIZERPASS
#include "weft/Training/Passes.h.inc"

namespace {

/// A parameter that is updated, its gradient, and how.
struct Update {
  ParamOp param;
  StateOp grad;
  StringRef optimizer;
};

/// Builds the program `@apply` and the states it needs.
class ApplyBuilder {
public:
  ApplyBuilder(ModuleOp module, ArrayRef<Update> updates, double p,
               bool nesterov)
      : module(module), updates(updates), p(p), nesterov(nesterov),
        builder(module.getContext()) {}

  void build();

private:
  void declareStates();
  void declareState(Update update, StringRef name, Type type);
  SmallVector<StringRef> inputNames() const;
  ProgramOp createProgram();
  void buildBody(ProgramOp program);
  void buildUpdate(Update update);
  Value decayOf(Update update);
  void write(StringRef target, Value value);
  Value read(Operation *symbol);
  Value readState(Update update, StringRef name);

  ModuleOp module;
  ArrayRef<Update> updates;
  double p;
  bool nesterov;
  OpBuilder builder;
  StateOp step;
  // Values of the body.
  llvm::StringMap<Value> inputs;
  Value coefficient, foundInf, newStep;
  llvm::DenseMap<Operation *, Value> gradients;
  // What the terminator writes.
  SmallVector<Attribute> targets;
  SmallVector<Value> written;
};

constexpr StringLiteral kInputs[] = {
    "lr", "beta1", "beta2", "eps", "weight_decay", "momentum", "max_norm"};
/// The weight decay of adamw where other optimizers run beside it: PyTorch's
/// default is 0.01 for adamw and 0 for the others.
constexpr StringLiteral kAdamWDecay = "adamw_weight_decay";

} // namespace

static SmallVector<StringRef> getStateNames(StringRef optimizer) {
  if (optimizer == "sgd")
    return {"momentum_buffer"};
  return {"exp_avg", "exp_avg_sq"};
}

static std::string getStateSymbol(ParamOp param, StringRef name) {
  return (param.getSymName() + "." + name).str();
}

void ApplyBuilder::declareState(Update update, StringRef name, Type type) {
  StateOp::create(
      builder, update.param.getLoc(),
      builder.getStringAttr(getStateSymbol(update.param, name)),
      TypeAttr::get(type),
      StateKindAttr::get(builder.getContext(), StateKind::Optimizer),
      FlatSymbolRefAttr::get(update.param.getSymNameAttr()));
}

void ApplyBuilder::declareStates() {
  builder.setInsertionPointAfter(updates.back().grad);
  step = StateOp::create(
      builder, module.getLoc(), builder.getStringAttr("step"),
      TypeAttr::get(RankedTensorType::get({}, builder.getI64Type())),
      StateKindAttr::get(builder.getContext(), StateKind::Optimizer),
      FlatSymbolRefAttr());
  for (Update update : updates)
    for (StringRef name : getStateNames(update.optimizer))
      declareState(update, name, update.param.getTensorType());
}

SmallVector<StringRef> ApplyBuilder::inputNames() const {
  SmallVector<StringRef> names(std::begin(kInputs), std::end(kInputs));
  auto isAdamW = [](const Update &update) {
    return update.optimizer == "adamw";
  };
  if (llvm::any_of(updates, isAdamW) && !llvm::all_of(updates, isAdamW))
    names.push_back(kAdamWDecay);
  return names;
}

ProgramOp ApplyBuilder::createProgram() {
  auto number = RankedTensorType::get({}, builder.getF64Type());
  auto flag = RankedTensorType::get({}, builder.getI1Type());
  auto named = [&](StringRef attribute, StringRef name) {
    return builder.getDictionaryAttr(
        builder.getNamedAttr(attribute, builder.getStringAttr(name)));
  };
  SmallVector<StringRef> names(inputNames());
  SmallVector<Type> types(names.size(), number);
  SmallVector<Attribute> argAttrs;
  for (StringRef name : names)
    argAttrs.push_back(named(WeftDialect::kInputAttr, name));
  Attribute resAttrs[] = {named(WeftDialect::kOutputAttr, "grad_norm"),
                          named(WeftDialect::kOutputAttr, "found_inf")};
  builder.setInsertionPointToEnd(module.getBody());
  auto program = ProgramOp::create(
      builder, module.getLoc(), builder.getStringAttr("apply"),
      TypeAttr::get(builder.getFunctionType(types, {number, flag})),
      ProgramKindAttr::get(builder.getContext(), ProgramKind::Apply),
      builder.getArrayAttr(argAttrs), builder.getArrayAttr(resAttrs));
  SmallVector<Location> locations(types.size(), module.getLoc());
  builder.createBlock(&program.getBody(), {}, types, locations);
  return program;
}

Value ApplyBuilder::read(Operation *symbol) {
  Type type = symbol->getAttrOfType<TypeAttr>("type").getValue();
  return ReadOp::create(
      builder, symbol->getLoc(), type,
      FlatSymbolRefAttr::get(SymbolTable::getSymbolName(symbol)));
}

Value ApplyBuilder::readState(Update update, StringRef name) {
  return ReadOp::create(
      builder, update.param.getLoc(), update.param.getTensorType(),
      FlatSymbolRefAttr::get(builder.getContext(),
                             getStateSymbol(update.param, name)));
}

void ApplyBuilder::write(StringRef target, Value value) {
  targets.push_back(FlatSymbolRefAttr::get(builder.getContext(), target));
  written.push_back(value);
}

Value ApplyBuilder::decayOf(Update update) {
  bool isOwn = update.optimizer == "adamw" && inputs.count(kAdamWDecay);
  return inputs[isOwn ? StringRef(kAdamWDecay) : "weight_decay"];
}

/// One update op; every result is written back where its operand came from.
void ApplyBuilder::buildUpdate(Update update) {
  ParamOp param = update.param;
  SmallVector<std::string> names = {param.getSymName().str()};
  SmallVector<Value> operands = {read(param)};
  for (StringRef name : getStateNames(update.optimizer)) {
    names.push_back(getStateSymbol(param, name));
    operands.push_back(readState(update, name));
  }
  SmallVector<Type> types(operands.size(), param.getTensorType());
  operands.append({gradients.lookup(update.grad), coefficient, foundInf,
                   newStep, inputs["lr"], decayOf(update)});
  if (update.optimizer == "sgd")
    operands.push_back(inputs["momentum"]);
  else
    operands.append({inputs["beta1"], inputs["beta2"], inputs["eps"]});
  SmallVector<NamedAttribute> attributes;
  if (Attribute scale = param->getAttr(kLrScaleAttr))
    attributes.push_back(builder.getNamedAttr("lr_scale", scale));
  Attribute decay = param->getAttr(kDecayScaleAttr);
  if (!param.decays() || !decay)
    decay = builder.getF64FloatAttr(param.decays() ? 1.0 : 0.0);
  attributes.push_back(builder.getNamedAttr("decay_scale", decay));
  if (update.optimizer == "sgd" && nesterov)
    attributes.push_back(
        builder.getNamedAttr("nesterov", builder.getUnitAttr()));
  if (StringAttr scope = param.getScopeAttr())
    attributes.push_back(builder.getNamedAttr(WeftDialect::kScopeAttr, scope));
  OperationState state(param.getLoc(), ("weft." + update.optimizer).str(),
                       operands, types, attributes);
  Operation *op = builder.create(state);
  for (auto [name, value] : llvm::zip(names, op->getResults()))
    write(name, value);
}

void ApplyBuilder::buildBody(ProgramOp program) {
  for (StringRef name : inputNames())
    inputs[name] = program.findInput(name);
  SmallVector<Value> grads;
  for (Update update : updates)
    grads.push_back(gradients[update.grad] = read(update.grad));
  auto number = RankedTensorType::get({}, builder.getF64Type());
  auto flag = RankedTensorType::get({}, builder.getI1Type());
  auto norm = NormAndCheckOp::create(builder, module.getLoc(), number, flag,
                                     grads, builder.getF64FloatAttr(p));
  foundInf = norm.getFoundInf();
  coefficient =
      ClipCoefficientOp::create(builder, module.getLoc(),
                                RankedTensorType::get({}, builder.getF32Type()),
                                norm.getNorm(), inputs["max_norm"],
                                /*scale=*/Value())
          .getResult();
  Value oldStep = read(step);
  newStep = StepIncrementOp::create(builder, module.getLoc(), oldStep.getType(),
                                    oldStep, foundInf)
                .getResult();
  write(step.getSymName(), newStep);
  for (Update update : updates)
    buildUpdate(update);
  ReturnOp::create(builder, module.getLoc(),
                   ValueRange{norm.getNorm(), foundInf}, written,
                   builder.getArrayAttr(targets));
}

void ApplyBuilder::build() {
  declareStates();
  buildBody(createProgram());
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct ExpandOptimizerPass
    : impl::ExpandOptimizerPassBase<ExpandOptimizerPass> {
  using ExpandOptimizerPassBase::ExpandOptimizerPassBase;

  void runOnOperation() override {
    double p = llvm::StringSwitch<double>(clipNorm)
                   .Case("1", 1)
                   .Case("2", 2)
                   .Case("3", 3)
                   .Case("inf", std::numeric_limits<double>::infinity())
                   .Default(0);
    SmallVector<Update> updates;
    if (failed(verifyOptions(p)) || failed(collectUpdates(updates)))
      return signalPassFailure();
    ApplyBuilder(getOperation(), updates, p, nesterov).build();
    numUpdated += updates.size();
  }

  LogicalResult verifyOptions(double p) {
    if (p == 0)
      return getOperation().emitError(
                 "expects clip-norm to be 1, 2, 3 or inf, but got ")
             << clipNorm.getValue();
    if (!isOptimizer(optimizer))
      return getOperation().emitError(
                 "expects optimizer to be adamw, adam or sgd, but got ")
             << optimizer.getValue();
    for (auto program : getOperation().getOps<ProgramOp>())
      if (program.getKind() == ProgramKind::Apply)
        return program.emitOpError(
            "expects to be the only program of kind apply, but the pass is "
            "about to build one");
    return success();
  }

  /// Trainable parameters in the order of the module.
  LogicalResult collectUpdates(SmallVectorImpl<Update> &updates) {
    llvm::DenseMap<StringAttr, StateOp> gradients;
    for (auto state : getOperation().getOps<StateOp>())
      if (state.getKind() == StateKind::Gradient && state.getParamAttr())
        gradients[state.getParamAttr().getAttr()] = state;
    for (auto param : getOperation().getOps<ParamOp>()) {
      StateOp grad = gradients.lookup(param.getSymNameAttr());
      if (!param.getTrainable() || !grad)
        continue;
      auto own = param->getAttrOfType<StringAttr>(kOptimizerAttr);
      updates.push_back({param, grad, own ? own.getValue() : optimizer});
      if (!isOptimizer(updates.back().optimizer))
        return param.emitOpError(
                   "expects optimizer to be adamw, adam or sgd, but got ")
               << updates.back().optimizer;
    }
    if (updates.empty())
      return getOperation().emitError("expects a trainable parameter with a "
                                      "gradient (weft-autodiff), but got none");
    return verifyNames(updates);
  }

  /// What the pass declares has names of its own.
  LogicalResult verifyNames(ArrayRef<Update> updates) {
    SymbolTable symbols(getOperation());
    SmallVector<std::string> names = {"apply", "step"};
    for (const Update &update : updates)
      for (StringRef name : getStateNames(update.optimizer))
        names.push_back(getStateSymbol(update.param, name));
    for (StringRef name : names)
      if (Operation *other = symbols.lookup(name))
        return other->emitOpError("expects another name than @")
               << name << ", which the optimizer needs";
    return success();
  }
};
} // namespace

} // namespace weft
