//===- LossScale.cpp - Multiply the loss gradient by a scale --------------===//
//
// Fusion/DecomposeScaler.cpp has the rules by which a dynamic scale changes.
//
//===----------------------------------------------------------------------===//

#include "weft/Precision/Passes.h"

#include "weft/Abi/Names.h"
#include "weft/Weft/Programs.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

namespace weft {
#define GEN_PASS_DEF_LOSSSCALEPASS
#include "weft/Precision/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct LossScalePass : weft::impl::LossScalePassBase<LossScalePass> {
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
    dynamic = mode == "dynamic";
    if (!dynamic)
      return chooseStatic();
    std::optional<ScalerProblem> problem = parseScaler(*scaler, numbers);
    if (!problem)
      problem = findProblem(numbers);
    if (problem)
      return error() << problem->spell();
    firstScale = *toLossScale(numbers.init);
    return success();
  }

  LogicalResult chooseStatic() {
    double number;
    if (StringRef(mode).getAsDouble(number))
      return error() << "expects mode to be dynamic or a number, but got "
                     << mode.getValue();
    if (!scaler.empty())
      return error() << "expects no scaler with a static loss scale, but got "
                     << llvm::join(*scaler, ",") << "; use mode=dynamic";
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
    for (StringRef name : {names::kLossScale, names::kLossScaleState})
      if (Operation *other = SymbolTable::lookupSymbolIn(getOperation(), name))
        return other->emitOpError("expects another name than @")
               << name << ", which the loss scale needs";
    auto steps = findOnlyProgram(getOperation(), ProgramKind::Micro);
    auto starts = findOnlyProgram(getOperation(), ProgramKind::Init);
    if (failed(steps) || failed(starts))
      return failure();
    micro = *steps;
    start = *starts;
    if (!micro || !start)
      return error() << "expects programs of kinds micro and init "
                        "(weft-derive-programs), but got none of kind "
                     << (micro ? names::kInit : names::kMicro);
    seed = micro.findInput(names::kLossSeed);
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
    StateOp scale = declare(names::kLossScale, scalarType());
    if (!dynamic)
      return;
    scale->setAttr(WeftDialect::kScalerAttr,
                   ScalerAttr::get(&getContext(), numbers));
    declare(names::kLossScaleState, stateType());
  }

  void writeFirstValues() {
    ReturnOp terminator = start.getTerminator();
    OpBuilder builder(terminator);
    auto write = [&](StringRef name, ElementsAttr value) {
      terminator.addWrite(
          name, ConstantOp::create(builder, getOperation().getLoc(), value));
    };
    write(names::kLossScale, DenseElementsAttr::get(scalarType(), firstScale));
    if (!dynamic)
      return;
    bool torch = numbers.policy == ScalerPolicy::Torch;
    bool countsClean = torch || numbers.policy == ScalerPolicy::ColossalAI;
    int64_t first[] = {0, countsClean ? 0 : -1, torch ? 0 : numbers.hysteresis};
    write(names::kLossScaleState,
          DenseElementsAttr::get(stateType(), ArrayRef(first)));
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
    Value scale = ReadOp::create(builder, loc, scalarType(), names::kLossScale);
    auto scaled = MulOp::create(builder, loc, seed, scale);
    seed.replaceAllUsesExcept(scaled, scaled);
  }

  RankedTensorType scalarType() {
    return RankedTensorType::get({}, Float32Type::get(&getContext()));
  }
  RankedTensorType stateType() {
    return RankedTensorType::get({3}, IntegerType::get(&getContext(), 64));
  }

  ScalerNumbers numbers;
  bool dynamic = true;
  float firstScale = 0.0f;
  ProgramOp micro, start;
  BlockArgument seed;
};
} // namespace
