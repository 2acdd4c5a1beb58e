//===- LossScale.cpp - Multiply the loss gradient by a scale --------------===//

#include "weft/Precision/Passes.h"

#include "weft/Weft/Weft.h"

#include "mlir/IR/Builders.h"

#include <cmath>

#define DEBUG_TYPE "weft-loss-scale"

using namespace mlir;

namespace weft {

#define GEN_PASS_DEF_LOSSSCALEPASS
#include "weft/Precision/Passes.h.inc"

static constexpr StringLiteral kScale = "loss_scale";
static constexpr StringLiteral kState = "loss_scale.state";

namespace {
/// Where a policy differs from the others.
struct PolicyDefaults {
  double init;
  int64_t interval, hysteresis;
  double minimum;
};
} // namespace

static PolicyDefaults getDefaults(ScalerPolicy policy) {
  switch (policy) {
  case ScalerPolicy::Torch:
    return {65536.0, 2000, 1, 0.0};
  case ScalerPolicy::DeepSpeed:
    return {65536.0, 1000, 2, 1.0};
  case ScalerPolicy::Mmcv:
    return {4294967296.0, 1000, 1, 1.0};
  }
  llvm_unreachable("a policy without defaults");
}

static ProgramOp findProgram(ModuleOp module, ProgramKind kind) {
  for (auto program : module.getOps<ProgramOp>())
    if (program.getKind() == kind)
      return program;
  return {};
}

/// The f32 that a scale is stored as, if that is a scale.
static std::optional<float> toScale(double number) {
  float scale = static_cast<float>(number);
  if (std::isfinite(scale) && scale > 0.0f)
    return scale;
  return std::nullopt;
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
      return error()
             << "expects policy to be torch, deepspeed or mmcv, but got "
             << policy.getValue();
    scalerPolicy = *chosen;
    dynamic = mode == "dynamic";
    if (!dynamic)
      return chooseStatic();
    PolicyDefaults defaults = getDefaults(*chosen);
    if (!init.hasValue())
      init = defaults.init;
    if (!interval.hasValue())
      interval = defaults.interval;
    if (!hysteresis.hasValue())
      hysteresis = defaults.hysteresis;
    if (!minimum.hasValue())
      minimum = defaults.minimum;
    return verifyNumbers();
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
          {"minimum", minimum.hasValue()}})
      if (given)
        return error() << "expects no " << name
                       << " with a static loss scale; use mode=dynamic";
    return setScale("the loss scale", number);
  }

  LogicalResult setScale(StringRef name, double number) {
    std::optional<float> chosen = toScale(number);
    if (!chosen)
      return error() << "expects " << name
                     << " to be finite in f32 and above 0, but got " << number;
    firstScale = *chosen;
    return success();
  }

  LogicalResult verifyNumbers() {
    if (!(growth > 1.0) || !std::isfinite(growth))
      return error() << "expects growth to be finite and above 1, but got "
                     << growth.getValue();
    if (!(backoff > 0.0 && backoff < 1.0))
      return error() << "expects backoff to lie in (0, 1), but got "
                     << backoff.getValue();
    if (interval < 1)
      return error() << "expects interval to be at least 1, but got "
                     << interval.getValue();
    if (hysteresis < 1)
      return error() << "expects hysteresis to be at least 1, but got "
                     << hysteresis.getValue();
    if (hysteresis > 1 && scalerPolicy != ScalerPolicy::DeepSpeed)
      return error() << "expects hysteresis to be 1 with policy "
                     << policy.getValue() << ", but got "
                     << hysteresis.getValue();
    if (!(minimum >= 0.0) || !std::isfinite(static_cast<float>(minimum)))
      return error() << "expects minimum to be finite and at least 0, but got "
                     << minimum.getValue();
    if (init < minimum)
      return error() << "expects init to be at least the minimum, "
                     << minimum.getValue() << ", but got " << init.getValue();
    return setScale("init", init);
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
    return builder.getDictionaryAttr(
        {builder.getNamedAttr(
             "policy", ScalerPolicyAttr::get(&getContext(), scalerPolicy)),
         builder.getNamedAttr("growth", builder.getF64FloatAttr(growth)),
         builder.getNamedAttr("backoff", builder.getF64FloatAttr(backoff)),
         builder.getNamedAttr("interval", builder.getI64IntegerAttr(interval)),
         builder.getNamedAttr("hysteresis",
                              builder.getI64IntegerAttr(hysteresis)),
         builder.getNamedAttr("minimum", builder.getF64FloatAttr(minimum))});
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
    int64_t first[] = {0, torch ? 0 : -1, torch ? 0 : hysteresis};
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
  bool dynamic = true;
  float firstScale = 0.0f;
  ProgramOp micro, start;
  BlockArgument seed;
};
} // namespace

} // namespace weft
