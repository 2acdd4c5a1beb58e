//===- LossScale.cpp - New loss scale, norm over groups -------------------===//

#include "Arguments.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace weft {
namespace {

/// What a policy reads and writes; Library.h names the fields.
struct Scaler {
  float scale;
  int64_t tracker, lastOverflow, hysteresis;
  bool exhausted;
};

/// Products are taken in f64 and rounded once, as GradScaler's kernel does.
void grow(Scaler &s, double growth) {
  float grown = static_cast<float>(static_cast<double>(s.scale) * growth);
  if (std::isfinite(grown))
    s.scale = grown;
}

/// A scale that may not shrink any more stays, and is reported.
void shrink(Scaler &s, double backoff, double minimum) {
  if (minimum > 0.0 && s.scale <= minimum) {
    s.exhausted = true;
    return;
  }
  double shrunk = std::max(static_cast<double>(s.scale) * backoff, minimum);
  s.scale = static_cast<float>(shrunk);
  s.exhausted = s.scale == 0.0f;
}

/// torch._amp_update_scale_, which grows at `interval` alone: there a count
/// that a run with a longer interval left above it would never grow again.
void updateTorch(Scaler &s, bool bad, const WeftScalerUpdateRecord &rule) {
  if (bad) {
    shrink(s, rule.backoff, rule.minimum);
    s.tracker = 0;
  } else if (++s.tracker >= rule.interval) {
    grow(s, rule.growth);
    s.tracker = 0;
  }
}

/// ColossalAI's DynamicGradScaler
void updateColossalAI(Scaler &s, bool bad, const WeftScalerUpdateRecord &rule) {
  if (bad) {
    s.hysteresis = std::max<int64_t>(s.hysteresis - 1, 0);
    if (s.hysteresis == 0)
      shrink(s, rule.backoff, rule.minimum);
    s.tracker = 0;
  } else if (++s.tracker >= rule.interval) {
    s.hysteresis = rule.hysteresis;
    grow(s, rule.growth);
    s.tracker = 0;
  }
}

/// The rule of DeepSpeed's FP16_Optimizer
void updateFused(Scaler &s, bool bad, const WeftScalerUpdateRecord &rule) {
  int64_t clean = s.tracker - s.lastOverflow - 1;
  if (bad) {
    shrink(s, rule.backoff, rule.minimum);
    s.lastOverflow = s.tracker;
  } else if (clean > 0 && clean % rule.interval == 0) {
    grow(s, rule.growth);
  }
  ++s.tracker;
}

/// DeepSpeed's DynamicLossScaler; mmcv's LossScaler is hysteresis 1. That one
/// spares no overflow, whatever a loaded state has left.
void updateModulo(Scaler &s, bool bad, const WeftScalerUpdateRecord &rule) {
  const int64_t hysteresis =
      rule.policy == WEFT_SCALER_MMCV ? 1 : rule.hysteresis;
  if (!bad && rule.consecutive)
    s.hysteresis = hysteresis;
  if (bad) {
    if (hysteresis > 1 && s.hysteresis > 1)
      --s.hysteresis;
    else
      shrink(s, rule.backoff, rule.minimum);
    s.lastOverflow = s.tracker;
  } else if ((s.tracker - s.lastOverflow) % rule.interval == 0) {
    s.hysteresis = hysteresis;
    grow(s, rule.growth);
  }
  ++s.tracker;
}

void update(Scaler &s, bool bad, const WeftScalerUpdateRecord &rule) {
  switch (rule.policy) {
  case WEFT_SCALER_TORCH:
    return updateTorch(s, bad, rule);
  case WEFT_SCALER_DEEPSPEED_FUSED:
    return updateFused(s, bad, rule);
  case WEFT_SCALER_COLOSSALAI:
    return updateColossalAI(s, bad, rule);
  default:
    return updateModulo(s, bad, rule);
  }
}

bool checkRule(WeftContext &context, const WeftCommand &command,
               const WeftScalerUpdateRecord &rule) {
  return checkBuffers(context, command, 6) &&
         checkRange(context, command, "policy", rule.policy, 0,
                    WEFT_SCALER_COLOSSALAI) &&
         checkRange(context, command, "interval", rule.interval, 1) &&
         checkRange(context, command, "hysteresis", rule.hysteresis, 1) &&
         checkRange(context, command, "consecutive", rule.consecutive, 0, 1);
}

/// The norms that are not skipped; all of them if all are.
std::vector<double> countedNorms(int64_t n, void *const *buffers) {
  std::vector<double> all, counted;
  for (int64_t i = 0; i < n; ++i) {
    all.push_back(scalar<double>(buffers[i]));
    if (!scalar<uint8_t>(buffers[n + i]))
      counted.push_back(all.back());
  }
  return counted.empty() ? all : counted;
}

/// One norm stays as it is: a power and its root would round it.
double combine(const std::vector<double> &norms, double p) {
  if (norms.size() == 1)
    return norms.front();
  double total = 0.0;
  for (double norm : norms)
    if (!std::isinf(p))
      total += std::pow(norm, p);
    else if (norm > total || std::isnan(norm))
      total = norm;
  return std::isinf(p) ? total : std::pow(total, 1.0 / p);
}

} // namespace
} // namespace weft

using namespace weft;

extern "C" void weft_cpu_scaler_update(WeftContext *context,
                                       const WeftCommand *command,
                                       void *const *buffers) {
  const auto *record = recordOf<WEFT_SCALER_UPDATE>(*context, *command);
  if (!record || !checkRule(*context, *command, *record))
    return;
  const int64_t *state = as<int64_t>(buffers[1]);
  Scaler s = {scalar<float>(buffers[0]), state[0], state[1], state[2], false};
  update(s, scalar<uint8_t>(buffers[2]), *record);
  *as<float>(buffers[3]) = s.scale;
  int64_t *newState = as<int64_t>(buffers[4]);
  newState[0] = s.tracker;
  newState[1] = s.lastOverflow;
  newState[2] = s.hysteresis;
  *as<uint8_t>(buffers[5]) = s.exhausted;
}

extern "C" void weft_cpu_total_norm(WeftContext *context,
                                    const WeftCommand *command,
                                    void *const *buffers) {
  const auto *record = recordOf<WEFT_TOTAL_NORM>(*context, *command);
  if (!record || !checkRange(*context, *command, "number of norms",
                             record->norms, 1, INT32_MAX / 2 - 1))
    return;
  int64_t n = record->norms;
  bool hasScale = record->hasScale != 0;
  if (!checkBuffers(*context, *command, 2 * n + 1 + hasScale))
    return;
  double total = combine(countedNorms(n, buffers), record->p);
  if (hasScale)
    total /= static_cast<double>(scalar<float>(buffers[2 * n + 1]));
  *as<double>(buffers[2 * n]) = total;
}
