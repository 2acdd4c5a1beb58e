//===- ScalerState.h - The loss scale of a program --------------*- C++ -*-===//
//
// A program's tables say how it scales its loss: which states there are, what
// `init` writes to them and the rule of the update.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTE_SCALERSTATE_H
#define WEFT_RUNTIME_EXECUTE_SCALERSTATE_H

#include "weft/Formats/Json.h"
#include "weft/Runtime/Execute/Context.h"

#include <optional>
#include <string>

namespace weft {

/// None: the loss is not scaled. Fixed: the scale never changes. The others say
/// how it moves (docs/mixed-precision.md).
enum class ScalePolicy {
  None,
  Fixed,
  Torch,
  DeepSpeed,
  Mmcv,
  DeepSpeedFused,
  ColossalAI
};

/// "none", "fixed" or what --scaler says: as in model.json.
const char *policyName(ScalePolicy policy);

/// How a loss scale changes.
struct ScalerRule {
  ScalePolicy policy = ScalePolicy::None;
  int64_t interval = 0, hysteresis = 0;
  bool consecutive = false;
  double growth = 0.0, backoff = 0.0, minimum = 0.0;
};

/// The rule in the `scaler` of a program's metadata: one that moves the scale.
Expected<ScalerRule> parseScaler(const JsonCursor &rule);

struct LossScaler : ScalerRule {
  const WeftTensor *scale = nullptr; // f32; null without a loss scale
  const WeftTensor *state = nullptr; // i64[3]; only if dynamic
  std::optional<float> first;        // what `init` writes

  bool isDynamic() const { return policy > ScalePolicy::Fixed; }
  static LossScaler of(const WeftExecutable &executable);
};

} // namespace weft

#endif // WEFT_RUNTIME_EXECUTE_SCALERSTATE_H
