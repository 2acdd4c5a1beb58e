//===- LoopHints.cpp - Loop metadata for LLVM -----------------------------===//

#include "weft/Lowering/Linalg/LoopHints.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace weft;

static constexpr StringLiteral kHint = "llvm.loop_annotation";

static void setUnroll(scf::ForOp loop, IntegerAttr count, BoolAttr full) {
  MLIRContext *context = loop.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(
      context, /*disable=*/{}, count, /*runtimeDisable=*/{}, full,
      /*followupUnrolled=*/{}, /*followupRemainder=*/{}, /*followupAll=*/{});
  loop->setAttr(kHint,
                LLVM::LoopAnnotationAttr::get(
                    context, /*disableNonforced=*/{}, /*vectorize=*/{},
                    /*interleave=*/{}, unroll, /*unrollAndJam=*/{}, /*licm=*/{},
                    /*distribute=*/{}, /*pipeline=*/{}, /*peeled=*/{},
                    /*unswitch=*/{}, /*mustProgress=*/{}, /*isVectorized=*/{},
                    /*startLoc=*/{}, /*endLoc=*/{}, /*parallelAccesses=*/{}));
}

void weft::unrollBy(scf::ForOp loop, int32_t count) {
  setUnroll(loop, Builder(loop).getI32IntegerAttr(count), /*full=*/{});
}

void weft::unrollFully(scf::ForOp loop) {
  setUnroll(loop, /*count=*/{}, Builder(loop).getBoolAttr(true));
}

void weft::moveLoopHints(Operation *function) {
  function->walk([](LLVM::BrOp branch) {
    auto annotation = dyn_cast_or_null<LLVM::LoopAnnotationAttr>(
        branch->removeDiscardableAttr(kHint));
    if (annotation)
      branch.setLoopAnnotationAttr(annotation);
  });
}
