//===- NumberRules.cpp - Numbers of ops of several dialects --------------===//

#include "weft/Interfaces/NumberRules.h"

#include <cmath>

using namespace mlir;
using namespace weft;

LogicalResult weft::verifyFinite(ErrorFn emitError, StringRef name,
                                 double number) {
  if (std::isfinite(number))
    return success();
  return emitError() << "expects a finite " << name << ", but got " << number;
}

LogicalResult weft::verifyNormal(ErrorFn emitError, double mean, double std) {
  if (failed(verifyFinite(emitError, "mean", mean)) ||
      failed(verifyFinite(emitError, "standard deviation", std)))
    return failure();
  if (std >= 0)
    return success();
  return emitError() << "expects a standard deviation of at least 0, but got "
                     << std;
}

LogicalResult weft::verifyUniform(ErrorFn emitError, double low, double high) {
  if (failed(verifyFinite(emitError, "low", low)) ||
      failed(verifyFinite(emitError, "high", high)))
    return failure();
  if (low <= high)
    return success();
  return emitError() << "expects low <= high, but got " << low << " and "
                     << high;
}

//===----------------------------------------------------------------------===//
// Loss scales
//===----------------------------------------------------------------------===//

std::optional<float> weft::toLossScale(double number) {
  // Gradients are multiplied by the inverse.
  float scale = static_cast<float>(number);
  if (std::isfinite(scale) && scale > 0.0f &&
      std::isfinite(static_cast<float>(1.0 / scale)))
    return scale;
  return std::nullopt;
}
