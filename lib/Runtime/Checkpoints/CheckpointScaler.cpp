//===- CheckpointScaler.cpp - The loss scale of a checkpoint --------------===//

#include "weft/Runtime/Checkpoints/CheckpointScaler.h"

#include "weft/Runtime/Checkpoints/Checkpoint.h"

#include <algorithm>
#include <cstring>

using namespace weft;

static std::string describe(const std::string &policy) {
  if (policy == "none")
    return "no loss scale";
  return policy == "fixed" ? "a fixed loss scale"
                           : "a dynamic loss scale (" + policy + ")";
}

/// How a program is compiled that has this policy.
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

static void limitHysteresis(const WeftContext &context,
                            const LossScaler &program) {
  char *left = static_cast<char *>(context.data(*program.state)) + 2 * 8;
  int64_t value;
  std::memcpy(&value, left, sizeof value);
  const int64_t least = program.policy == ScalePolicy::ColossalAI ? 0 : 1;
  value = std::clamp<int64_t>(value, least, program.hysteresis);
  std::memcpy(left, &value, sizeof value);
}

std::optional<std::string> weft::adaptLossScale(const WeftContext &context,
                                                const LossScaler &program) {
  if (!program.scale)
    return std::nullopt;
  float *scale = static_cast<float *>(context.data(*program.scale));
  const float saved = *scale;
  if (!program.isDynamic()) {
    *scale = program.first.value_or(saved);
    if (*scale == saved)
      return std::nullopt;
    return "the loss scale is " + numberText(*scale) +
           ", as compiled; that of the checkpoint was " + numberText(saved);
  }
  if (program.policy != ScalePolicy::Torch)
    limitHysteresis(context, program);
  const float minimum = static_cast<float>(program.minimum);
  if (saved >= minimum)
    return std::nullopt;
  *scale = minimum;
  return "the loss scale is " + numberText(minimum) +
         ", the least of this program; that of the checkpoint was " +
         numberText(saved);
}
