//===- NumberRules.cpp - Numbers of ops of several dialects --------------===//

#include "weft/Interfaces/NumberRules.h"

#include <cmath>
#include <cstdio>

using namespace mlir;

namespace weft {

LogicalResult verifyFinite(ErrorFn emitError, StringRef name, double number) {
  if (std::isfinite(number))
    return success();
  return emitError() << "expects a finite " << name << ", but got " << number;
}

LogicalResult verifyNormal(ErrorFn emitError, double mean, double std) {
  if (failed(verifyFinite(emitError, "mean", mean)) ||
      failed(verifyFinite(emitError, "standard deviation", std)))
    return failure();
  if (std >= 0)
    return success();
  return emitError() << "expects a standard deviation of at least 0, but got "
                     << std;
}

LogicalResult verifyUniform(ErrorFn emitError, double low, double high) {
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

bool hasHysteresis(StringRef policy) {
  return policy == "deepspeed" || policy == "colossalai";
}

std::optional<float> toLossScale(double number) {
  // Gradients are multiplied by the inverse.
  float scale = static_cast<float>(number);
  if (std::isfinite(scale) && scale > 0.0f &&
      std::isfinite(static_cast<float>(1.0 / scale)))
    return scale;
  return std::nullopt;
}

ScalerProblem makeProblem(const char *name, const char *rule, double number) {
  char value[32];
  std::snprintf(value, sizeof value, "%.9g", number);
  return {name, rule, value};
}

std::optional<ScalerProblem> findProblem(const ScalerRates &rates) {
  float growth = static_cast<float>(rates.growth);
  float backoff = static_cast<float>(rates.backoff);
  if (!(growth > 1.0f) || !std::isfinite(growth))
    return makeProblem("growth", "to be finite in f32 and above 1",
                       rates.growth);
  if (!(backoff > 0.0f && backoff < 1.0f))
    return makeProblem("backoff", "to lie in (0, 1) in f32", rates.backoff);
  if (rates.interval < 1)
    return makeProblem("interval", "to be at least 1", rates.interval);
  if (rates.hysteresis < 1)
    return makeProblem("hysteresis", "to be at least 1", rates.hysteresis);
  if (rates.hysteresis > 1 && !hasHysteresis(rates.policy))
    return makeProblem("hysteresis", "to be 1 with this policy",
                       rates.hysteresis);
  if (rates.consecutive && rates.policy != "deepspeed")
    return {{"consecutive", "to be false with this policy", "true"}};
  if (rates.minimum != 0.0 && !toLossScale(rates.minimum))
    return makeProblem("minimum",
                       "to be 0, or above 0 and finite in f32, as its inverse",
                       rates.minimum);
  return std::nullopt;
}

} // namespace weft
