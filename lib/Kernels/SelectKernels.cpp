//===- SelectKernels.cpp - Choose the routine that runs each op -----------===//

#include "weft/Kernels/Passes.h"

#include "weft/Analysis/Implementations.h"

namespace weft {
#define GEN_PASS_DEF_SELECTKERNELSPASS
#include "weft/Kernels/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

struct SelectKernelsPass
    : weft::impl::SelectKernelsPassBase<SelectKernelsPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>())
      for (Operation &op : program.getBody().front().without_terminator())
        if (!isa<ReadOp>(op) && failed(select(&op)))
          return signalPassFailure();
  }

  LogicalResult select(Operation *op) {
    FailureOr<StringRef> impl = chooseImplementation(op);
    if (failed(impl))
      return failure();
    op->setAttr(WeftDialect::kImplAttr, StringAttr::get(&getContext(), *impl));
    if (*impl != kFoldedImpl)
      return success();
    findFoldableProducer(cast<AccumulateOp>(op))
        ->setAttr(kFoldedAttr, UnitAttr::get(&getContext()));
    ++numFolded;
    return success();
  }
};

} // namespace
