//===- LossDenominators.cpp - Means over the targets of all ranks ---------===//
//
// The state of a denominator holds D / K of the K micro-batches of a rank
// (weft-derive-programs). The loss of a rank is its sum over D / (W K), where D
// counts the targets of all W ranks: the mean of these losses over ranks is the
// loss of the step.
//
//===----------------------------------------------------------------------===//

#include "Partition.h"

#include "weft/Abi/MicroSteps.h"
#include "weft/Abi/Names.h"

using namespace mlir;
using namespace weft;

void weft::keepDenominators(ProgramOp denominators) {
  SymbolTable symbols(denominators->getParentOfType<ModuleOp>());
  auto keep = cast<ProgramOp>(denominators->clone());
  keep.setSymName(names::kDenominatorsKeep);
  symbols.insert(keep, std::next(denominators->getIterator()));
}

/// The accumulations that the program writes to states of denominators.
static SmallVector<AccumulateOp> findTotals(ProgramOp program) {
  SmallVector<AccumulateOp> totals;
  for (auto total : program.getBody().front().getOps<AccumulateOp>()) {
    auto read = total.getOld().getDefiningOp<ReadOp>();
    auto state = read ? SymbolTable::lookupNearestSymbolFrom<StateOp>(
                            program, read.getSourceAttr())
                      : StateOp();
    if (state && state.getKind() == StateKind::Denominator)
      totals.push_back(total);
  }
  return totals;
}

unsigned weft::joinDenominators(ProgramOp denominators,
                                const MeshCollectives &mesh) {
  SmallVector<AccumulateOp> totals = findTotals(denominators);
  if (totals.empty())
    return 0;
  Location loc = totals.back().getLoc();
  OpBuilder builder(denominators.getContext());
  builder.setInsertionPointAfter(totals.back());
  SmallVector<Value> own;
  for (AccumulateOp total : totals)
    own.push_back(total);
  ValueRange sums = mesh.sumOverRanks(builder, loc, own);
  for (auto [total, sum] : llvm::zip_equal(totals, sums)) {
    Value ranks = ConstantOp::create(
        builder, loc,
        cast<ElementsAttr>(DenseElementsAttr::get(
            cast<RankedTensorType>(sum.getType()), double(mesh.countRanks()))));
    Value mean = DivOp::create(builder, loc, sum, ranks);
    total.getResult().replaceAllUsesExcept(mean, sums.front().getDefiningOp());
  }
  return totals.size();
}
