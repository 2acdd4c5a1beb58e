//===- TieParams.cpp - Make tied parameters one parameter -----------------===//

#include "weft/Frontend/Passes.h"

#include "weft/Weft/Weft.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace weft {
#define GEN_PASS_DEF_TIEPARAMSPASS
#include "weft/Frontend/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// The parameter that `param` names in its `tie`, or null after an error.
static ParamOp tieTarget(ParamOp param, SymbolTable &symbols) {
  Operation *target = symbols.lookup(*param.getTie());
  if (auto other = dyn_cast_or_null<ParamOp>(target))
    return other;
  InFlightDiagnostic diag =
      param.emitOpError("expects tie to name a parameter, but got @")
      << *param.getTie();
  if (target)
    diag.attachNote(target->getLoc()) << "that symbol is defined here";
  else
    diag << ", which does not exist";
  return {};
}

/// Follows the ties of `param` to the parameter that has none.
static FailureOr<ParamOp> resolveTie(ParamOp param, SymbolTable &symbols) {
  llvm::SmallPtrSet<Operation *, 4> seen;
  ParamOp current = param;
  while (current.getTie()) {
    if (!seen.insert(current).second) {
      param.emitOpError("expects ties to end at an untied parameter, but got a "
                        "cycle through @")
          << current.getSymName();
      return failure();
    }
    current = tieTarget(current, symbols);
    if (!current)
      return failure();
  }
  return current;
}

static LogicalResult checkTie(ParamOp param, ParamOp target) {
  if (param.getType() != target.getType()) {
    InFlightDiagnostic diag = param.emitOpError("expects the type of its tie @")
                              << target.getSymName() << ", " << target.getType()
                              << ", but got " << param.getType();
    diag.attachNote(target.getLoc()) << "tied to this parameter";
    return diag;
  }
  if (param.getTrainable() != target.getTrainable()) {
    InFlightDiagnostic diag =
        param.emitOpError("expects trainable as in its tie @")
        << target.getSymName() << ", but got "
        << (param.getTrainable() ? "true" : "false");
    diag.attachNote(target.getLoc()) << "tied to this parameter";
    return diag;
  }
  return success();
}

namespace {
struct TieParamsPass : weft::impl::TieParamsPassBase<TieParamsPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<std::pair<ParamOp, ParamOp>> ties;
    for (ParamOp param : getOperation().getOps<ParamOp>()) {
      if (!param.getTie())
        continue;
      FailureOr<ParamOp> target = resolveTie(param, symbols);
      if (failed(target) || failed(checkTie(param, *target)))
        return signalPassFailure();
      ties.emplace_back(param, *target);
    }
    for (auto [param, target] : ties) {
      if (failed(SymbolTable::replaceAllSymbolUses(
              param, target.getSymNameAttr(), getOperation()))) {
        param.emitOpError("expects its uses to be visible, but got an "
                          "unregistered op that may use it");
        return signalPassFailure();
      }
    }
    for (auto [param, target] : ties)
      param.erase();
    numTied += ties.size();
  }
};
} // namespace
