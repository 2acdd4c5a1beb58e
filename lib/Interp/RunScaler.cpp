//===- RunScaler.cpp - The loss scale -------------------------------------===//
//
// The scale is an f32 number in both modes: where it stops growing and when it
// reaches zero are properties of f32. Products are rounded once from double, as
// PyTorch's kernel does. Fusion/DecomposeScaler.cpp has the same rules.
//
//===----------------------------------------------------------------------===//

#include "OpFunctions.h"

#include <cmath>

using namespace mlir;
using namespace weft;

namespace {

/// The loss scale and [tracker, last overflow, hysteresis left], updated by a
/// step.
struct ScalerState {
  double scale;
  int64_t tracker, lastOverflow, hysteresisLeft;
  bool exhausted = false;

  /// Multiplies the scale, unless it would leave the range of f32.
  void grow(double growth) {
    double grown = roundTo(ElementKind::F32, scale * growth);
    if (std::isfinite(grown))
      scale = grown;
  }

  /// A scale that cannot shrink any more is exhausted.
  void shrink(double backoff, double minimum) {
    exhausted = minimum > 0 && scale <= minimum;
    if (exhausted)
      return;
    scale = roundTo(ElementKind::F32, std::fmax(scale * backoff, minimum));
    exhausted = scale == 0;
  }
};

} // namespace

/// GradScaler: `tracker` counts clean steps since the scale changed. A count
/// beyond the interval, of a run with a longer one, grows at once.
static void updateTorch(const ScalerNumbers &numbers, bool foundInf,
                        ScalerState &state) {
  if (foundInf) {
    state.shrink(numbers.backoff, numbers.minimum);
    state.tracker = 0;
    return;
  }
  if (++state.tracker < numbers.interval)
    return;
  state.grow(numbers.growth);
  state.tracker = 0;
}

/// DynamicLossScaler, and with hysteresis 1 mmcv's LossScaler: `tracker` counts
/// all steps.
static void updateModulo(const ScalerNumbers &numbers, bool foundInf,
                         ScalerState &state) {
  bool isDeepSpeed = numbers.policy == ScalerPolicy::DeepSpeed;
  int64_t hysteresis = isDeepSpeed ? numbers.hysteresis : 1;
  int64_t step = state.tracker++;
  if (!foundInf && numbers.consecutive)
    state.hysteresisLeft = hysteresis;
  if (foundInf) {
    state.lastOverflow = step;
    if (hysteresis > 1 && state.hysteresisLeft > 1) {
      --state.hysteresisLeft;
      return;
    }
    state.shrink(numbers.backoff, numbers.minimum);
    return;
  }
  if ((step - state.lastOverflow) % numbers.interval != 0)
    return;
  state.hysteresisLeft = hysteresis;
  state.grow(numbers.growth);
}

/// FP16_Optimizer of DeepSpeed: `tracker` counts all steps.
static void updateFused(const ScalerNumbers &numbers, bool foundInf,
                        ScalerState &state) {
  int64_t step = state.tracker++;
  int64_t clean = step - state.lastOverflow - 1;
  if (foundInf) {
    state.lastOverflow = step;
    state.shrink(numbers.backoff, numbers.minimum);
  } else if (clean > 0 && clean % numbers.interval == 0) {
    state.grow(numbers.growth);
  }
}

/// DynamicGradScaler of ColossalAI: `tracker` counts clean steps.
static void updateColossalAI(const ScalerNumbers &numbers, bool foundInf,
                             ScalerState &state) {
  if (foundInf) {
    state.tracker = 0;
    if (state.hysteresisLeft > 0)
      --state.hysteresisLeft;
    if (state.hysteresisLeft == 0)
      state.shrink(numbers.backoff, numbers.minimum);
    return;
  }
  if (++state.tracker < numbers.interval)
    return;
  state.tracker = 0;
  state.hysteresisLeft = numbers.hysteresis;
  state.grow(numbers.growth);
}

static LogicalResult evaluateScalerUpdate(OpCall &call) {
  const ScalerNumbers &numbers =
      call.as<ScalerUpdateOp>().getScaler().getNumbers();
  const Tensor &old = call.operand(1);
  ScalerState state = {call.operand(0).at(0), old.intAt(0), old.intAt(1),
                       old.intAt(2)};
  bool foundInf = call.operand(2).intAt(0);
  switch (numbers.policy) {
  case ScalerPolicy::Torch:
    updateTorch(numbers, foundInf, state);
    break;
  case ScalerPolicy::DeepSpeed:
  case ScalerPolicy::Mmcv:
    updateModulo(numbers, foundInf, state);
    break;
  case ScalerPolicy::DeepSpeedFused:
    updateFused(numbers, foundInf, state);
    break;
  case ScalerPolicy::ColossalAI:
    updateColossalAI(numbers, foundInf, state);
    break;
  }
  call.result(0).at(0) = state.scale;
  call.result(1).intValues() = {state.tracker, state.lastOverflow,
                                state.hysteresisLeft};
  call.result(2).intAt(0) = state.exhausted;
  return success();
}

void weft::addScalerOps(MLIRContext *context) {
  interpretAs<ScalerUpdateOp>(context, evaluateScalerUpdate);
}
