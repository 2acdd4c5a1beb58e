//===- Scaler.h - Loss scale of a program, of a checkpoint ------*- C++ -*-===//
//
// A program's tables say how it scales its loss: which states there are, what
// `init` writes to them and the rule of the update. A checkpoint holds the
// states, and the name of the policy in its model.json.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_SCALER_H
#define WEFT_RUNTIME_SCALER_H

#include "weft/Formats/Json.h"
#include "weft/Runtime/Context.h"

#include <optional>
#include <string>

namespace weft {

/// None: the loss is not scaled. Fixed: the scale never changes.
/// The others are a WeftScalerPolicy, from Torch on.
enum class ScalePolicy {
  None,
  Fixed,
  Torch,
  DeepSpeed = Torch + WEFT_SCALER_DEEPSPEED,
  Mmcv = Torch + WEFT_SCALER_MMCV,
  DeepSpeedFused = Torch + WEFT_SCALER_DEEPSPEED_FUSED,
  ColossalAI = Torch + WEFT_SCALER_COLOSSALAI
};

/// "none", "fixed" or what --scaler says: as in model.json.
const char *policyName(ScalePolicy policy);

struct LossScaler {
  ScalePolicy policy = ScalePolicy::None;
  const WeftTensor *scale = nullptr; // f32; null without a loss scale
  const WeftTensor *state = nullptr; // i64[3] of Library.h; only if dynamic
  std::optional<float> first;        // what `init` writes
  int64_t interval = 0, hysteresis = 0;
  bool consecutive = false;
  double growth = 0.0, backoff = 0.0, minimum = 0.0;

  bool isDynamic() const { return policy > ScalePolicy::Fixed; }
  static LossScaler of(const WeftExecutable &executable);
};

/// The checkpoint in `directory`, whose model.json is `model`, was saved under
/// the program's policy.
Status checkScalePolicy(const Json &model, const std::string &directory,
                        const LossScaler &program);

/// Brings a loaded loss scale in line with the program's numbers: a fixed scale
/// is the program's, a dynamic one is not below its minimum, and the hysteresis
/// left is one that the program counts down from. What became of the scale, if
/// that is not what was loaded.
std::optional<std::string> adaptLossScale(const WeftContext &context,
                                          const LossScaler &program);

} // namespace weft

#endif // WEFT_RUNTIME_SCALER_H
