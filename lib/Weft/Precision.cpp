//===- Precision.cpp - Questions about low precision ----------------------===//

#include "weft/Weft/Precision.h"

using namespace mlir;

LogicalResult weft::checkRegionsAreResolved(ProgramOp program) {
  WalkResult result = program.walk([](Operation *op) {
    if (isa<RecomputeOp>(op)) {
      op->emitOpError("expects no region that is computed again; run "
                      "weft-inline-recompute first");
      return WalkResult::interrupt();
    }
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
