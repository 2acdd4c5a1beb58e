//===- RemoveFences.cpp - Fences become what they stand for ---------------===//

#include "weft/Autodiff/Passes.h"

#include "weft/Weft/Weft.h"

namespace weft {
#define GEN_PASS_DEF_REMOVEFENCESPASS
#include "weft/Autodiff/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
struct RemoveFencesPass : weft::impl::RemoveFencesPassBase<RemoveFencesPass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      op->removeDiscardableAttr(WeftDialect::kRecomputeAttr);
      auto fence = dyn_cast<FenceOp>(op);
      if (!fence)
        return;
      fence.getResult().replaceAllUsesWith(fence.getOperand());
      fence.erase();
    });
  }
};
} // namespace
