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
void updateTorch(Scaler &s, bool bad, const int64_t *ints,
                 const double *floats) {
  if (bad) {
    shrink(s, floats[1], floats[2]);
    s.tracker = 0;
  } else if (++s.tracker >= ints[1]) {
    grow(s, floats[0]);
    s.tracker = 0;
  }
}

/// ColossalAI's DynamicGradScaler
void updateColossalAI(Scaler &s, bool bad, const int64_t *ints,
                      const double *floats) {
  if (bad) {
    s.hysteresis = std::max<int64_t>(s.hysteresis - 1, 0);
    if (s.hysteresis == 0)
      shrink(s, floats[1], floats[2]);
    s.tracker = 0;
  } else if (++s.tracker >= ints[1]) {
    s.hysteresis = ints[2];
    grow(s, floats[0]);
    s.tracker = 0;
  }
}

/// The rule of DeepSpeed's FP16_Optimizer
void updateFused(Scaler &s, bool bad, const int64_t *ints,
                 const double *floats) {
  int64_t clean = s.tracker - s.lastOverflow - 1;
  if (bad) {
    shrink(s, floats[1], floats[2]);
    s.lastOverflow = s.tracker;
  } else if (clean > 0 && clean % ints[1] == 0) {
    grow(s, floats[0]);
  }
  ++s.tracker;
}

/// DeepSpeed's DynamicLossScaler; mmcv's LossScaler is hysteresis 1.
void updateModulo(Scaler &s, bool bad, int64_t hysteresis, const int64_t *ints,
                  const double *floats) {
  if (!bad && ints[3])
    s.hysteresis = hysteresis;
  if (bad) {
    if (s.hysteresis > 1)
      --s.hysteresis;
    else
      shrink(s, floats[1], floats[2]);
    s.lastOverflow = s.tracker;
  } else if ((s.tracker - s.lastOverflow) % ints[1] == 0) {
    s.hysteresis = hysteresis;
    grow(s, floats[0]);
  }
  ++s.tracker;
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
  if (!checkCounts(*context, *command, 6, 4, 3) ||
      !checkRange(*context, *command, "policy", command->ints[0], 0, 4) ||
      !checkRange(*context, *command, "interval", command->ints[1], 1) ||
      !checkRange(*context, *command, "hysteresis", command->ints[2], 1) ||
      !checkRange(*context, *command, "consecutive", command->ints[3], 0, 1))
    return;
  const int64_t *state = as<int64_t>(buffers[1]);
  Scaler s = {scalar<float>(buffers[0]), state[0], state[1], state[2], false};
  bool bad = scalar<uint8_t>(buffers[2]);
  const int64_t *ints = command->ints;
  switch (ints[0]) {
  case 0:
    updateTorch(s, bad, ints, command->floats);
    break;
  case 3:
    updateFused(s, bad, ints, command->floats);
    break;
  case 4:
    updateColossalAI(s, bad, ints, command->floats);
    break;
  default:
    updateModulo(s, bad, ints[0] == 2 ? 1 : ints[2], ints, command->floats);
  }
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
  if (!checkCounts(*context, *command, 1, 2, 1) ||
      !checkRange(*context, *command, "number of norms", command->ints[0], 1,
                  INT32_MAX / 2 - 1))
    return;
  int64_t n = command->ints[0];
  bool hasScale = command->ints[1] != 0;
  if (!checkCounts(*context, *command, 2 * n + 1 + hasScale, 2, 1))
    return;
  double total = combine(countedNorms(n, buffers), command->floats[0]);
  if (hasScale)
    total /= static_cast<double>(scalar<float>(buffers[2 * n + 1]));
  *as<double>(buffers[2 * n]) = total;
}
