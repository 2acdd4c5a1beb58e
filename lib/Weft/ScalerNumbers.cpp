//===- ScalerNumbers.cpp - The numbers of a loss scale --------------------===//

#include "weft/Weft/ScalerNumbers.h"

#include <cmath>
#include <cstdio>

namespace weft {

static bool hasHysteresis(ScalerPolicy policy) {
  return policy == ScalerPolicy::DeepSpeed ||
         policy == ScalerPolicy::ColossalAI;
}

ScalerNumbers ScalerNumbers::getDefaults(ScalerPolicy policy) {
  ScalerNumbers numbers;
  numbers.policy = policy;
  if (policy == ScalerPolicy::Torch)
    return numbers;
  numbers.interval = 1000;
  if (policy != ScalerPolicy::ColossalAI)
    numbers.minimum = 1.0;
  if (policy == ScalerPolicy::Mmcv)
    numbers.init = 4294967296.0;
  if (hasHysteresis(policy))
    numbers.hysteresis = 2;
  return numbers;
}

std::optional<float> toLossScale(double number) {
  // Gradients are multiplied by the inverse.
  float scale = static_cast<float>(number);
  if (std::isfinite(scale) && scale > 0.0f &&
      std::isfinite(static_cast<float>(1.0 / scale)))
    return scale;
  return std::nullopt;
}

static ScalerProblem problem(const char *name, const char *rule,
                             double number) {
  char value[32];
  std::snprintf(value, sizeof value, "%.9g", number);
  return {name, rule, value};
}

std::optional<ScalerProblem> findProblem(const ScalerNumbers &numbers) {
  float growth = static_cast<float>(numbers.growth);
  float backoff = static_cast<float>(numbers.backoff);
  if (!(growth > 1.0f) || !std::isfinite(growth))
    return problem("growth", "to be finite in f32 and above 1", numbers.growth);
  if (!(backoff > 0.0f && backoff < 1.0f))
    return problem("backoff", "to lie in (0, 1) in f32", numbers.backoff);
  if (numbers.interval < 1)
    return problem("interval", "to be at least 1", numbers.interval);
  if (numbers.hysteresis < 1)
    return problem("hysteresis", "to be at least 1", numbers.hysteresis);
  if (numbers.hysteresis > 1 && !hasHysteresis(numbers.policy))
    return problem("hysteresis", "to be 1 with this policy",
                   numbers.hysteresis);
  if (numbers.consecutive && numbers.policy != ScalerPolicy::DeepSpeed)
    return {{"consecutive", "to be false with this policy", "true"}};
  if (numbers.minimum != 0.0 && !toLossScale(numbers.minimum))
    return problem("minimum",
                   "to be 0, or above 0 and finite in f32, as its inverse",
                   numbers.minimum);
  if (!toLossScale(numbers.init))
    return problem("init", kScaleRule, numbers.init);
  if (numbers.init < numbers.minimum)
    return problem("init", "to be at least the minimum", numbers.init);
  return std::nullopt;
}

} // namespace weft
