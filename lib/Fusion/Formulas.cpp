//===- Formulas.cpp - Read the attributes of decomposed ops ---------------===//

#include "Fusion.h"

#include "weft/Analysis/Implementations.h"

using namespace mlir;
using namespace weft;

void weft::copyOrigin(Operation *from, Operation *to) {
  copyScope(from, to);
  for (StringRef name : {WeftDialect::kFormulaAttr, WeftDialect::kUpdateAttr})
    if (Attribute value = from->getAttr(name))
      to->setAttr(name, value);
}

FailureOr<Formulas> weft::takeFormulas(ProgramOp program) {
  Formulas formulas;
  for (Operation &op : program.getBody().front()) {
    if (auto name = op.getAttrOfType<StringAttr>(WeftDialect::kFormulaAttr)) {
      formulas.names[&op] = name;
      op.removeAttr(WeftDialect::kFormulaAttr);
    }
    if (auto update = op.getAttrOfType<IntegerAttr>(WeftDialect::kUpdateAttr)) {
      formulas.updates[&op] = update.getInt();
      op.removeAttr(WeftDialect::kUpdateAttr);
    }
    if (auto link = op.getAttrOfType<RepeatsAttr>(WeftDialect::kRepeatsAttr)) {
      RepeatedUpdate &update = formulas.repeated[link.getUpdate()];
      if (update.repeats.empty()) {
        update.states.assign(link.getStates().begin(), link.getStates().end());
        update.results.assign(link.getResults());
      }
      update.repeats.push_back(cast<OptimizerOpInterface>(op));
    } else if (isa<CompositeOpInterface>(op) &&
               getImplementation(&op).empty()) {
      return op.emitOpError(
          "expects its formula in its place; run weft-decompose first");
    }
  }
  if (failed(checkRepeats(program, formulas)))
    return failure();
  return formulas;
}
