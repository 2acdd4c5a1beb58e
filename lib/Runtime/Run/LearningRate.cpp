//===- LearningRate.cpp - Learning rate of a step -------------------------===//

#include "weft/Runtime/Run/LearningRate.h"

#include <cmath>

using namespace weft;

/// The part of the way from `from` to `to` that `i` has gone, in [0, 1].
static double progress(int64_t i, int64_t from, int64_t to) {
  if (i >= to)
    return 1.0;
  if (i <= from)
    return 0.0;
  return double(i - from) / double(to - from);
}

double RateSchedule::at(int64_t step) const {
  const double pi = 3.14159265358979323846;
  const int64_t i = step - 1;
  if (i < warmup)
    return lr * double(i + 1) / double(warmup);
  const double span = lr - minLr;
  switch (kind) {
  case RateScheduleKind::Constant:
    return lr;
  case RateScheduleKind::Linear:
    return minLr + (1.0 - progress(i, warmup, decaySteps)) * span;
  case RateScheduleKind::Cosine:
    return minLr +
           0.5 * (1.0 + std::cos(pi * progress(i, warmup, decaySteps))) * span;
  case RateScheduleKind::Wsd: {
    int64_t start = decaySteps * 4 / 5;
    if (i < start)
      return lr;
    return minLr + (1.0 - std::sqrt(progress(i, start, decaySteps))) * span;
  }
  }
  return lr;
}
