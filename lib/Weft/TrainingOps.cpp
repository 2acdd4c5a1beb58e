//===- TrainingOps.cpp - Gradient and optimizer ops -----------------------===//

#include "Parsing.h"

using namespace mlir;
using namespace weft;

LogicalResult RandomNormalOp::verify() {
  return verifyNormal([&] { return emitOpError(); },
                      getMean().convertToDouble(), getStd().convertToDouble());
}

LogicalResult RandomUniformOp::verify() {
  return verifyUniform([&] { return emitOpError(); },
                       getLow().convertToDouble(), getHigh().convertToDouble());
}

LogicalResult NormAndCheckOp::verify() {
  double p = getP().convertToDouble();
  if (p == 1.0 || p == 2.0 || p == 3.0 || (std::isinf(p) && p > 0))
    return success();
  return emitOpError("expects p of 1, 2, 3 or inf, but got ") << p;
}

LogicalResult TotalNormOp::verify() {
  if (getNorms().empty() || getNorms().size() != getSkips().size())
    return emitOpError("expects one skip for each norm, but got ")
           << getSkips().size() << " for " << getNorms().size();
  double p = getP().convertToDouble();
  if (p > 0)
    return success();
  return emitOpError("expects a positive p, but got ") << p;
}
