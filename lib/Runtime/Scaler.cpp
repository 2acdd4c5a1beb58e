//===- Scaler.cpp - The loss scale of a program ---------------------------===//

#include "weft/Runtime/Scaler.h"

#include <cstring>

using namespace weft;

const char *weft::policyName(ScalePolicy policy) {
  static const char *const names[] = {"none",      "fixed", "torch",
                                      "deepspeed", "mmcv",  "deepspeed_fused",
                                      "colossalai"};
  return names[int(policy)];
}

static const WeftTensor *findState(const WeftExecutable &executable,
                                   const char *name) {
  for (int32_t i = 0; i < executable.numTensors; ++i)
    if (executable.tensors[i].kind == WEFT_SCALER &&
        std::strcmp(executable.tensors[i].name, name) == 0)
      return &executable.tensors[i];
  return nullptr;
}

/// The number that `init` writes to a tensor of one element, if it is one of
/// its constants.
static std::optional<float> firstValue(const WeftExecutable &executable,
                                       const WeftTensor &tensor) {
  std::optional<float> value;
  const WeftProgram *init = findProgram(executable, "init");
  for (int32_t i = 0; init && i < init->numCommands; ++i) {
    const WeftCommand &command = init->commands[i];
    bool constant = std::strcmp(command.name, "weft_cpu_constant") == 0 ||
                    std::strcmp(command.name, "weft_cpu_fill") == 0;
    if (constant && command.numBuffers == 1 && command.numFloats > 0 &&
        command.offsets[0] == tensor.offset)
      value = static_cast<float>(command.floats[0]);
  }
  return value;
}

/// The command of `apply` that makes the next scale.
static const WeftCommand *findUpdate(const WeftExecutable &executable) {
  const WeftProgram *apply = findProgram(executable, "apply");
  for (int32_t i = 0; apply && i < apply->numCommands; ++i) {
    const WeftCommand &command = apply->commands[i];
    if (std::strcmp(command.name, "weft_cpu_scaler_update") == 0 &&
        command.numInts == 4 && command.numFloats == 3)
      return &command;
  }
  return nullptr;
}

LossScaler LossScaler::of(const WeftExecutable &executable) {
  LossScaler scaler;
  scaler.scale = findState(executable, "loss_scale");
  if (!scaler.scale)
    return scaler;
  scaler.policy = ScalePolicy::Fixed;
  scaler.first = firstValue(executable, *scaler.scale);
  const WeftCommand *update = findUpdate(executable);
  scaler.state = findState(executable, "loss_scale.state");
  if (!update || !scaler.state)
    return scaler;
  scaler.policy =
      static_cast<ScalePolicy>(int(ScalePolicy::Torch) + int(update->ints[0]));
  scaler.interval = update->ints[1];
  scaler.hysteresis = update->ints[2];
  scaler.consecutive = update->ints[3] != 0;
  scaler.growth = update->floats[0];
  scaler.backoff = update->floats[1];
  scaler.minimum = update->floats[2];
  return scaler;
}
