//===- Autodiff.cpp - Gradients of the micro program ----------------------===//

#include "Differentiator.h"
#include "SavedOps.h"

#include "weft/Autodiff/Passes.h"
#include "weft/Weft/Programs.h"

#include "mlir/IR/Remarks.h"

namespace weft {
#define GEN_PASS_DEF_AUTODIFFPASS
#include "weft/Autodiff/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

struct AutodiffPass : weft::impl::AutodiffPassBase<AutodiffPass> {
  using AutodiffPassBase::AutodiffPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<ProgramOp> found = findOnlyProgram(module, ProgramKind::Micro);
    if (failed(found))
      return signalPassFailure();
    ProgramOp micro = *found;
    if (!micro) {
      module.emitError("expects a program of kind micro, but got none; run "
                       "weft-derive-programs first");
      return signalPassFailure();
    }
    Differentiator differentiator(
        module, micro,
        {gradDtype == GradDtype::F32, accumulation == AccumulationMode::On});
    if (failed(differentiator.run()))
      return signalPassFailure();
    int64_t ops = differentiator.numBackwardOps(), values = 0, bytes = 0;
    for (Value value : markSaved(micro.getBody().front(), [&](Operation *op) {
           return differentiator.isBackward(op);
         })) {
      ++values;
      bytes += getTensorBytes(value);
    }
    numBackwardOps += ops;
    numSaved += values;
    savedBytes += bytes;
    remark::analysis(micro.getLoc(),
                     remark::RemarkOpts::name("saved").category("autodiff"))
        << remark::add("{0} backward ops read {1} saved forward values of {2} "
                       "bytes",
                       ops, values, bytes);
  }
};

} // namespace
