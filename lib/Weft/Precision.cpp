//===- Precision.cpp - Questions about low precision ----------------------===//

#include "weft/Weft/Precision.h"

using namespace mlir;

LogicalResult weft::checkRecomputeIsInlined(ProgramOp program) {
  WalkResult result = program.walk([](RecomputeOp op) {
    op.emitOpError("expects no region that is computed again; run "
                   "weft-inline-recompute first");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult weft::checkRegionsAreResolved(ProgramOp program) {
  if (failed(checkRecomputeIsInlined(program)))
    return failure();
  WalkResult result = program.walk([](Operation *op) {
    if (isa<AutocastOp>(op)) {
      op->emitOpError("expects no region with a cast policy; run "
                      "weft-autocast first");
      return WalkResult::interrupt();
    }
    if (auto dtype = op->getAttrOfType<TypeAttr>("dtype")) {
      op->emitOpError("expects no dtype, but got ")
          << dtype.getValue() << "; run weft-autocast first";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
