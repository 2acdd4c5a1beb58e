//===- Models.cpp - The adjoints of the weft ops --------------------------===//

#include "Adjoint.h"
#include "RowFlows.h"

#include "weft/Autodiff/Passes.h"

using namespace mlir;

void weft::registerAutodiffModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    attachUnaryRules(context);
    attachBinaryRules(context);
    attachShapeRules(context);
    attachMatmulRules(context);
    attachLayerRules(context);
    attachLossRules(context);
    attachRowFlows(context);
  });
}
