//===- LossScale.cpp - Multiply the loss gradient by a scale --------------===//

#include "weft/Precision/Passes.h"

#include "weft/Weft/ScalerNumbers.h"

#include "mlir/IR/Builders.h"

#define DEBUG_TYPE "weft-loss-scale"

using namespace mlir;

namespace weft {

#define GEN_PASS_DEF_LOSSSCALEPASS
#include "weft/Precision/Passes.h.inc"

static constexpr StringLiteral kScale = "loss_scale";
static constexpr StringLiteral kState = "loss_scale.state";

static ProgramOp findProgram(ModuleOp module, ProgramKind kind) {
  for (auto program : module.getOps<ProgramOp>())
    if (program.getKind() == kind)
      return program;
  return {};
}

namespace {
struct LossScalePass : impl::LossScalePassBase<LossScalePass> {
  using LossScalePassBase::LossScalePassBase;

  void runOnOperation() override {
    if (failed(chooseNumbers()) || failed(findPrograms()))
      return signalPassFailure();
    declareStates();
    writeFirstValues();
    scaleSeed();
  }

  InFlightDiagnostic error() { return getOperation().emitError(); }

  //===--------------------------------------------------------------------===//
  // Numbers
  //===--------------------------------------------------------------------===//

  LogicalResult chooseNumbers() {
    std::optional<ScalerPolicy> chosen = symbolizeScalerPolicy(policy);
    if (!chosen)
      return error() << "expects policy to be torch, deepspeed, "
                        "deepspeed_fused, mmcv or colossalai, but got "
                     << policy.getValue();
    scalerPolicy = *chosen;
    dynamic = mode == "dynamic";
    if (!dynamic)
      return chooseStatic();
    return chooseDynamic();
  }

  /// What is not given is the policy's.
  LogicalResult chooseDynamic() {
    numbers = ScalerNumbers::getDefaults(scalerPolicy);
    auto take = [](auto &option, auto &number) {
      if (option.hasValue())
        number = option;
    };
    take(init, numbers.init);
    take(growth, numbers.growth);
    take(backoff, numbers.backoff);
    take(interval, numbers.interval);
    take(hysteresis, numbers.hysteresis);
    take(minimum, numbers.minimum);
    take(consecutive, numbers.consecutive);
    if (std::optional<ScalerProblem> problem = findProblem(numbers))
      return error() << "expects " << problem->name << " " << problem->rule
                     << ", but got " << problem->value;
    firstScale = *toLossScale(numbers.init);
    return success();
  }

  LogicalResult chooseStatic() {
    double number;
    if (StringRef(mode).getAsDouble(number))
      return error() << "expects mode to be dynamic or a number, but got "
                     << mode.getValue();
    for (auto [name, given] :
         {std::pair<StringRef, bool>{"init", init.hasValue()},
          {"growth", growth.hasValue()},
          {"backoff", backoff.hasValue()},
          {"interval", interval.hasValue()},
          {"hysteresis", hysteresis.hasValue()},
          {"consecutive", consecutive.hasValue()},
          {"minimum", minimum.hasValue()}})
      if (given)
        return error() << "expects no " << name
                       << " with a static loss scale; use mode=dynamic";
    std::optional<float> scale = toLossScale(number);
    if (!scale)
      return error() << "expects the loss scale " << kScaleRule << ", but got "
                     << mode.getValue();
    firstScale = *scale;
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Programs
  //===--------------------------------------------------------------------===//

  LogicalResult findPrograms() {
    for (StringRef name : {kScale, kState})
      if (Operation *other = SymbolTable::lookupSymbolIn(getOperation(), name))
        return other->emitOpError("expects another name than @")
               << name << ", which the loss scale needs";
    micro = findProgram(getOperation(), ProgramKind::Micro);
    start = findProgram(getOperation(), ProgramKind::Init);
    if (!micro || !start)
      return error() << "expects programs of kinds micro and init "
                        "(weft-derive-programs), but got none of kind "
                     << (micro ? "init" : "micro");
    seed = micro.findInput("loss_seed");
    if (!seed)
      return micro.emitOpError("expects an input 'loss_seed', but got none");
    if (!getElementTypeOrSelf(seed).isF32())
      return micro.emitOpError(
                 "expects 'loss_seed' to be tensor<f32>, but got ")
             << seed.getType();
    return success();
  }

  void declareStates() {
    OpBuilder builder(micro);
    Location loc = getOperation().getLoc();
    auto declare = [&](StringRef name, Type type) {
      return StateOp::create(
          builder, loc, builder.getStringAttr(name), TypeAttr::get(type),
          StateKindAttr::get(&getContext(), StateKind::Scaler),
          FlatSymbolRefAttr());
    };
    StateOp scale = declare(kScale, scalarType());
    if (!dynamic)
      return;
    scale->setAttr(WeftDialect::kScalerAttr, getScalerAttr(builder));
    declare(kState, stateType());
  }

  /// The attributes of weft.scaler_update.
  DictionaryAttr getScalerAttr(Builder &builder) {
    SmallVector<NamedAttribute> list = {
        builder.getNamedAttr(
            "policy", ScalerPolicyAttr::get(&getContext(), scalerPolicy)),
        builder.getNamedAttr("growth", builder.getF64FloatAttr(numbers.growth)),
        builder.getNamedAttr("backoff",
                             builder.getF64FloatAttr(numbers.backoff)),
        builder.getNamedAttr("interval",
                             builder.getI64IntegerAttr(numbers.interval)),
        builder.getNamedAttr("hysteresis",
                             builder.getI64IntegerAttr(numbers.hysteresis)),
        builder.getNamedAttr("minimum",
                             builder.getF64FloatAttr(numbers.minimum))};
    if (numbers.consecutive)
      list.push_back(
          builder.getNamedAttr("consecutive", builder.getBoolAttr(true)));
    return builder.getDictionaryAttr(list);
  }

  void writeFirstValues() {
    ReturnOp terminator = start.getTerminator();
    OpBuilder builder(terminator);
    auto write = [&](StringRef name, ElementsAttr value) {
      terminator.addWrite(
          name, ConstantOp::create(builder, getOperation().getLoc(), value));
    };
    write(kScale, DenseElementsAttr::get(scalarType(), firstScale));
    if (!dynamic)
      return;
    bool torch = scalerPolicy == ScalerPolicy::Torch;
    bool countsClean = torch || scalerPolicy == ScalerPolicy::ColossalAI;
    int64_t first[] = {0, countsClean ? 0 : -1, torch ? 0 : numbers.hysteresis};
    write(kState, DenseElementsAttr::get(stateType(), ArrayRef(first)));
  }

  /// The backward ops get the scaled seed, made right before the first of them.
  void scaleSeed() {
    Operation *first = nullptr;
    for (Operation *user : seed.getUsers())
      if (!first || user->isBeforeInBlock(first))
        first = user;
    if (!first)
      return;
    OpBuilder builder(first);
    Location loc = getOperation().getLoc();
    Value scale = ReadOp::create(builder, loc, scalarType(), kScale);
    auto scaled = MulOp::create(builder, loc, seed, scale);
    seed.replaceAllUsesExcept(scaled, scaled);
  }

  RankedTensorType scalarType() {
    return RankedTensorType::get({}, Float32Type::get(&getContext()));
  }
  RankedTensorType stateType() {
    return RankedTensorType::get({3}, IntegerType::get(&getContext(), 64));
  }

  ScalerPolicy scalerPolicy = ScalerPolicy::Torch;
  ScalerNumbers numbers;
  bool dynamic = true;
  float firstScale = 0.0f;
  ProgramOp micro, start;
  BlockArgument seed;
};
} // namespace

} // namespace weft
