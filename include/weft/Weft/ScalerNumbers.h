//===- ScalerNumbers.h - The numbers of a loss scale ------------*- C++ -*-===//

#ifndef WEFT_WEFT_SCALERNUMBERS_H
#define WEFT_WEFT_SCALERNUMBERS_H

#include "weft/Weft/Weft.h"

#include <optional>
#include <string>

namespace weft {

/// The numbers of a dynamic loss scale. Policies and defaults are those of
/// torch.amp.GradScaler, DeepSpeed's DynamicLossScaler and FP16_Optimizer,
/// mmcv's LossScaler and ColossalAI's DynamicGradScaler.
struct ScalerNumbers {
  ScalerPolicy policy = ScalerPolicy::Torch;
  double init = 65536.0;
  double growth = 2.0;
  double backoff = 0.5;
  int64_t interval = 2000;
  int64_t hysteresis = 1;
  double minimum = 0.0;
  bool consecutive = false; // deepspeed: a clean step refills hysteresis

  static ScalerNumbers getDefaults(ScalerPolicy policy);
};

/// A number that is no part of a loss scale.
struct ScalerProblem {
  std::string name; // of the field above
  std::string rule; // "to be above 1"
  std::string value;
};

/// The first rule that the numbers break. A scale is an f32 and is multiplied
/// in f32: what counts is a number's value there.
std::optional<ScalerProblem> findProblem(const ScalerNumbers &numbers);

/// The f32 that a loss scale is stored as; none unless it is above 0, finite
/// and has a finite inverse. `kScaleRule` says so.
std::optional<float> toLossScale(double number);
inline constexpr const char *kScaleRule =
    "to be above 0 and finite in f32, as its inverse";

} // namespace weft

#endif // WEFT_WEFT_SCALERNUMBERS_H
