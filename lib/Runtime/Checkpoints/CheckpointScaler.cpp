//===- CheckpointScaler.cpp - The loss scale of a checkpoint --------------===//

#include "weft/Runtime/Checkpoints/CheckpointScaler.h"

#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Devices/Device.h"

#include <algorithm>

using namespace weft;

static std::string describe(const std::string &policy) {
  if (policy == "none")
    return "no loss scale";
  return policy == "fixed" ? "a fixed loss scale"
                           : "a dynamic loss scale (" + policy + ")";
}

/// The compile flags of a program with this policy.
static std::string flagsOf(const std::string &policy) {
  if (policy == "none")
    return "--loss-scale=none";
  return policy == "fixed" ? "--loss-scale=N"
                           : "--loss-scale=dynamic --scaler=" + policy;
}

Status weft::checkScalePolicy(const Json &model, const std::string &directory,
                              const LossScaler &program) {
  JsonCursor root(model, directory + "/" + modelFileName, ExitCode::Checkpoint);
  auto saved = root.getString("loss_scale");
  if (!saved)
    return saved.takeError();
  if (*saved == policyName(program.policy))
    return Status::success();
  return checkpointError("expects a checkpoint with " +
                         describe(policyName(program.policy)) +
                         ", but got one with " + describe(*saved))
      .at(directory)
      .hint("compile with " + flagsOf(*saved) +
            " to continue it, or take its weights with `weft ckpt export` and "
            "--init-from");
}

static Status limitHysteresis(const WeftContext &context,
                              const LossScaler &program) {
  const int64_t left = program.state->offset + 2 * 8;
  int64_t value = 0;
  if (Status s = context.device().copyOut(&value, left, sizeof value); !s)
    return s;
  const int64_t least = program.policy == ScalePolicy::ColossalAI ? 0 : 1;
  value = std::clamp<int64_t>(value, least, program.hysteresis);
  return context.device().copyIn(left, &value, sizeof value);
}

/// The adapted scale and the reason; nothing if the saved scale is kept.
static std::optional<std::pair<float, std::string>>
adaptedScale(float saved, const LossScaler &program) {
  const std::string was = "; that of the checkpoint was " + numberText(saved);
  if (!program.isDynamic()) {
    const float fixed = program.first.value_or(saved);
    if (fixed == saved)
      return std::nullopt;
    return std::pair(fixed, "the loss scale is " + numberText(fixed) +
                                ", as compiled" + was);
  }
  const float minimum = static_cast<float>(program.minimum);
  if (saved >= minimum)
    return std::nullopt;
  return std::pair(minimum, "the loss scale is " + numberText(minimum) +
                                ", the least of this program" + was);
}

Expected<std::optional<std::string>>
weft::adaptLossScale(const WeftContext &context, const LossScaler &program) {
  if (!program.scale)
    return std::optional<std::string>();
  Device &device = context.device();
  float saved = 0.0f;
  Status status = device.copyOut(&saved, program.scale->offset, sizeof saved);
  if (status && program.isDynamic() && program.policy != ScalePolicy::Torch)
    status = limitHysteresis(context, program);
  auto adapted = adaptedScale(saved, program);
  if (status && adapted)
    status = device.copyIn(program.scale->offset, &adapted->first, 4);
  if (!status)
    return status.takeError();
  return adapted ? std::optional(adapted->second) : std::nullopt;
}
