//===- ShareNumbers.cpp - Compute equal numbers once ----------------------===//

#include "RepeatedUpdates.h"
#include "weft/Analysis/Implementations.h"
#include "weft/Fusion/Passes.h"

namespace weft {
#define GEN_PASS_DEF_SHARENUMBERSPASS
#include "weft/Fusion/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

unsigned weft::shareNumbers(Block &block,
                            llvm::function_ref<bool(Operation *)> isShared) {
  EqualValues values;
  unsigned count = 0;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    const bool isNumber = isa<ScalarBodyOpInterface>(op) &&
                          getShape(op.getResult(0)).empty() && isShared(&op);
    if (!isNumber && !isa<ConstantOp>(op))
      continue;
    Value first = values.insert(&op);
    if (!isNumber || first == op.getResult(0))
      continue;
    op.getResult(0).replaceAllUsesWith(first);
    op.erase();
    ++count;
  }
  return count;
}

namespace {
struct ShareNumbersPass : weft::impl::ShareNumbersPassBase<ShareNumbersPass> {
  using ShareNumbersPassBase::ShareNumbersPassBase;

  void runOnOperation() override {
    numShared +=
        shareNumbers(getOperation().getBody().front(), [](Operation *op) {
          return getImplementation(op).empty();
        });
  }
};
} // namespace
