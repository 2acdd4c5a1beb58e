//===- InlineRecompute.cpp - Regions become marks -------------------------===//

#include "weft/Autodiff/Passes.h"

#include "weft/Autodiff/RecomputeChoices.h"
#include "weft/Weft/Weft.h"

namespace weft {
#define GEN_PASS_DEF_INLINERECOMPUTEPASS
#include "weft/Autodiff/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// Marks what stands inside of a region, also in regions of other kinds. What
/// an inner region of this kind held is marked already.
static void mark(RecomputeOp region) {
  region.getBody().walk([&](Operation *op) {
    if (mayRecompute(op) && !op->hasAttr(WeftDialect::kRecomputeAttr))
      op->setAttr(WeftDialect::kRecomputeAttr, region.getSegmentAttr());
  });
}

/// Moves the ops of a region in front of it, and removes it.
static void inlineBody(RecomputeOp region) {
  Block &body = region.getBody().front();
  Operation *yield = body.getTerminator();
  region->replaceAllUsesWith(yield->getOperands());
  yield->erase();
  region->getBlock()->getOperations().splice(region->getIterator(),
                                             body.getOperations());
  region.erase();
}

/// Names must be unique: all ops with one name are recomputed at the same
/// place, so a name shared by several layers would save no memory.
static LogicalResult checkNames(ProgramOp program) {
  llvm::DenseMap<StringAttr, RecomputeOp> known;
  WalkResult result = program.walk([&](RecomputeOp region) {
    auto [first, isNew] = known.try_emplace(region.getSegmentAttr(), region);
    if (isNew)
      return WalkResult::advance();
    InFlightDiagnostic error =
        region.emitOpError("expects a name of its own, but got ")
        << region.getSegmentAttr() << " again";
    error.attachNote(first->second.getLoc()) << "the other region";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct InlineRecomputePass
    : weft::impl::InlineRecomputePassBase<InlineRecomputePass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>())
      if (failed(checkNames(program)))
        return signalPassFailure();
    // Inner regions come first.
    getOperation()->walk([&](RecomputeOp region) {
      mark(region);
      inlineBody(region);
      ++numRegions;
    });
  }
};
} // namespace
