//===- Formulas.cpp - Read the attributes of decomposed ops ---------------===//

#include "Fusion.h"

#include "weft/Analysis/Implementations.h"

using namespace mlir;

namespace weft {

/// The attribute may have been edited.
static LogicalResult checkRepeats(OptimizerOpInterface repeat,
                                  RepeatsAttr link) {
  const size_t tensors = repeat.getStates().size() + 2;
  const int64_t operands =
      repeat->getBlock()->getTerminator()->getNumOperands();
  if (link.getStates().size() == tensors &&
      link.getResults().size() == repeat->getNumResults() &&
      llvm::all_of(link.getResults(),
                   [&](int64_t result) { return result < operands; }))
    return success();
  return repeat->emitOpError("expects ")
         << tensors << " states and " << repeat->getNumResults()
         << " results among the " << operands
         << " operands of the terminator in " << WeftDialect::kRepeatsAttr
         << ", but got " << link;
}

static LogicalResult takeRepeat(OptimizerOpInterface repeat, RepeatsAttr link,
                                Formulas &formulas) {
  if (failed(checkRepeats(repeat, link)))
    return failure();
  RepeatedUpdate &update = formulas.repeated[link.getUpdate()];
  update.states.assign(link.getStates().begin(), link.getStates().end());
  update.results.assign(link.getResults().begin(), link.getResults().end());
  update.repeats.push_back(repeat);
  return success();
}

/// Every repeated update must have been decomposed.
static LogicalResult checkFirstUpdates(Formulas &formulas) {
  llvm::DenseSet<int64_t> known;
  for (auto [op, update] : formulas.updates)
    known.insert(update);
  for (auto &[number, update] : formulas.repeated)
    if (!known.contains(number))
      return update.repeats.front()->emitOpError("expects an op of update ")
             << number << ", whose kernels it calls, but got none";
  return success();
}

FailureOr<Formulas> takeFormulas(ProgramOp program) {
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
  }
  for (Operation &op : program.getBody().front()) {
    auto link = op.getAttrOfType<RepeatsAttr>(WeftDialect::kRepeatsAttr);
    if (link) {
      if (failed(takeRepeat(cast<OptimizerOpInterface>(op), link, formulas)))
        return failure();
      op.removeAttr(WeftDialect::kRepeatsAttr);
    } else if (isa<CompositeOpInterface>(op) &&
               getImplementation(&op).empty()) {
      return op.emitOpError(
          "expects its formula in its place; run weft-decompose first");
    }
  }
  if (failed(checkFirstUpdates(formulas)))
    return failure();
  return formulas;
}

} // namespace weft
