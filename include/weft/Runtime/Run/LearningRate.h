//===- LearningRate.h - Learning rate of a step -----------------*- C++ -*-===//
//
// The learning-rate schedules of a run. All arithmetic is double; the value
// that reaches the optimizer is the one written to the metrics.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_RUN_LEARNINGRATE_H
#define WEFT_RUNTIME_RUN_LEARNINGRATE_H

#include <cstdint>

namespace weft {

enum class RateScheduleKind { Constant, Linear, Cosine, Wsd };

/// A schedule, with s the step from 1 and i = s - 1:
///   i < warmup         lr * (i + 1) / warmup
///   constant           lr
///   linear             minLr + (1 - r) * (lr - minLr)
///   cosine             minLr + (1 + cos(pi * r)) / 2 * (lr - minLr)
///   wsd                lr before d = floor(0.8 * decaySteps), then
///                      minLr + (1 - sqrt((i - d) / (decaySteps - d)))
///                            * (lr - minLr)
/// where r = (i - warmup) / (decaySteps - warmup). From i >= decaySteps on the
/// decaying schedules give minLr.
struct RateSchedule {
  RateScheduleKind kind = RateScheduleKind::Constant;
  double lr = 1e-3;
  double minLr = 0.0;
  int64_t warmup = 0;
  int64_t decaySteps = 0;

  /// The learning rate of `step`, counted from 1.
  double at(int64_t step) const;
};

} // namespace weft

#endif // WEFT_RUNTIME_RUN_LEARNINGRATE_H
