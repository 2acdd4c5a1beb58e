//===- OptimizerStates.cpp - Moments and step counters of updates ---------===//

#include "UpdateGroups.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace weft;

static StateOp declareState(OpBuilder &builder, Location loc, StringRef symbol,
                            Type type, ParamOp param) {
  return StateOp::create(
      builder, loc, builder.getStringAttr(symbol), TypeAttr::get(type),
      StateKindAttr::get(builder.getContext(), StateKind::Optimizer),
      param ? FlatSymbolRefAttr::get(param.getSymNameAttr())
            : FlatSymbolRefAttr());
}

static SmallVector<StateOp> declareStates(ModuleOp module,
                                          ArrayRef<Update> updates) {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(updates.back().grad);
  auto counter = RankedTensorType::get({}, builder.getI64Type());
  SmallVector<StateOp> states;
  for (StringRef symbol : getStepSymbols(updates))
    states.push_back(declareState(builder, module.getLoc(), symbol, counter,
                                  /*param=*/ParamOp()));
  for (Update update : updates)
    for (StringRef name : update.optimizer->states)
      states.push_back(declareState(builder, update.param.getLoc(),
                                    getStateSymbol(update.param, name),
                                    getMomentType(update.param), update.param));
  return states;
}

/// Optimizers start from zeros, which `init` writes like all other first
/// values: no program relies on what memory holds before it.
static void writeZeros(ProgramOp init, ArrayRef<StateOp> states) {
  ReturnOp terminator = init.getTerminator();
  OpBuilder body(terminator);
  SmallVector<std::pair<StringRef, Value>> writes;
  for (StateOp state : states) {
    RankedTensorType type = state.getTensorType();
    auto zeros = cast<ElementsAttr>(
        DenseElementsAttr::get(type, body.getZeroAttr(type.getElementType())));
    writes.push_back(
        {state.getSymName(), ConstantOp::create(body, state.getLoc(), zeros)});
  }
  terminator.addWrites(writes);
}

void weft::declareOptimizerStates(ProgramOp init, ArrayRef<Update> updates) {
  writeZeros(init, declareStates(init->getParentOfType<ModuleOp>(), updates));
}
