//===- ExpandOptimizer.cpp - Write the update as the program @apply -------===//

#include "weft/Training/Passes.h"

#include "UpdateGroups.h"
#include "weft/Abi/Names.h"
#include "weft/Weft/Optimizers.h"
#include "weft/Weft/Programs.h"

#include "llvm/ADT/StringSwitch.h"

#include <limits>

namespace weft {
#define GEN_PASS_DEF_EXPANDOPTIMIZERPASS
#include "weft/Training/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct ExpandOptimizerPass
    : weft::impl::ExpandOptimizerPassBase<ExpandOptimizerPass> {
  using ExpandOptimizerPassBase::ExpandOptimizerPassBase;

  void runOnOperation() override {
    double p = llvm::StringSwitch<double>(clipNorm)
                   .Case("1", 1)
                   .Case("2", 2)
                   .Case("3", 3)
                   .Case("inf", std::numeric_limits<double>::infinity())
                   .Default(0);
    if (failed(verifyOptions(p)))
      return signalPassFailure();
    FailureOr<SmallVector<Update>> updates =
        collectUpdates(getOperation(), optimizer);
    FailureOr<ScalerStates> scaler = findScaler();
    if (failed(updates) || failed(scaler) || failed(verifyNames(*updates)))
      return signalPassFailure();
    FailureOr<ProgramOp> init = findInit();
    if (failed(init))
      return signalPassFailure();
    buildApplyProgram(*init, *updates, *scaler, p, nesterov);
    numUpdated += updates->size();
  }

  LogicalResult verifyOptions(double p) {
    if (p == 0)
      return getOperation().emitError(
                 "expects clip-norm to be 1, 2, 3 or inf, but got ")
             << clipNorm.getValue();
    if (!findOptimizer(optimizer))
      return getOperation().emitError("expects optimizer to be ")
             << spellOptimizers() << ", but got " << optimizer.getValue();
    for (auto program : getOperation().getOps<ProgramOp>())
      if (program.getKind() == ProgramKind::Apply)
        return program.emitOpError(
            "expects to be the only program of kind apply, but the pass is "
            "about to build one");
    return success();
  }

  /// The states of `weft-loss-scale`.
  FailureOr<ScalerStates> findScaler() {
    ScalerStates scaler;
    for (auto state : getOperation().getOps<StateOp>()) {
      if (state.getKind() != StateKind::Scaler)
        continue;
      bool isScale = state.getTensorType().getRank() == 0;
      StateOp &first = isScale ? scaler.scale : scaler.state;
      if (first) {
        InFlightDiagnostic error =
            state.emitOpError("expects one ")
            << (isScale ? "loss scale" : "state of the scaler")
            << ", but got a second one";
        error.attachNote(first.getLoc()) << "the first one";
        return error;
      }
      first = state;
    }
    bool dynamic =
        scaler.scale && scaler.scale->hasAttr(WeftDialect::kScalerAttr);
    if (dynamic == bool(scaler.state))
      return scaler;
    return getOperation().emitError("expects `weft.scaler` on the loss scale "
                                    "together with a state of the scaler "
                                    "(weft-loss-scale), but got only ")
           << (dynamic ? "the attribute" : "the state");
  }

  /// The program that writes the first values of the states.
  FailureOr<ProgramOp> findInit() {
    FailureOr<ProgramOp> init =
        findOnlyProgram(getOperation(), ProgramKind::Init);
    if (failed(init) || *init)
      return init;
    return getOperation().emitError("expects a program of kind init, but got "
                                    "none; run weft-derive-programs first");
  }

  /// Fails if a symbol that the pass declares exists already.
  LogicalResult verifyNames(ArrayRef<Update> updates) {
    SymbolTable symbols(getOperation());
    std::vector<std::string> names = getStepSymbols(updates);
    names.insert(names.begin(), names::kApply);
    for (const Update &update : updates)
      for (StringRef name : update.optimizer->states)
        names.push_back(getStateSymbol(update.param, name));
    for (StringRef name : names)
      if (Operation *other = symbols.lookup(name))
        return other->emitOpError("expects another name than @")
               << name << ", which the optimizer needs";
    return success();
  }
};
} // namespace
