//===- ScalerState.cpp - The loss scale of a program ----------------------===//

#include "weft/Runtime/Execute/ScalerState.h"

#include "weft/Abi/Names.h"
#include "weft/Abi/RecordTypes.h"
#include "weft/Formats/Json.h"

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

/// The first float that a command writes, if it writes a constant.
static std::optional<float> constantOf(const WeftCommand &command) {
  if (const auto *fill = findRecord<WEFT_FILL>(command))
    return static_cast<float>(fill->value);
  const auto *constant = findRecord<WEFT_CONSTANT>(command);
  float value = 0;
  if (!constant || constant->dtype != WEFT_F32 ||
      constant->count < int64_t(sizeof value))
    return std::nullopt;
  std::memcpy(&value, entriesOf<char>(*constant), sizeof value);
  return value;
}

/// The number that `init` writes to a tensor of one element, if it is one of
/// its constants.
static std::optional<float> firstValue(const WeftExecutable &executable,
                                       const WeftTensor &tensor) {
  std::optional<float> value;
  const WeftProgram *init = findProgram(executable, names::kInit);
  for (int32_t i = 0; init && i < init->numCommands; ++i) {
    const WeftCommand &command = init->commands[i];
    if (command.numBuffers == 1 && command.offsets[0] == tensor.offset)
      if (std::optional<float> constant = constantOf(command))
        value = constant;
  }
  return value;
}

static std::optional<ScalePolicy> findPolicy(const std::string &name) {
  for (int i = int(ScalePolicy::Torch); i <= int(ScalePolicy::ColossalAI); ++i)
    if (name == policyName(ScalePolicy(i)))
      return ScalePolicy(i);
  return std::nullopt;
}

Expected<ScalerRule> weft::parseScaler(const JsonCursor &rule) {
  auto name = rule.getString("policy");
  if (!name)
    return name.takeError();
  std::optional<ScalePolicy> policy = findPolicy(*name);
  if (!policy)
    return rule.error("expects a policy of --scaler, but got " + *name);
  ScalerRule parsed;
  parsed.policy = *policy;
  for (auto [field, member] :
       {std::pair("interval", &ScalerRule::interval),
        std::pair("hysteresis", &ScalerRule::hysteresis)}) {
    auto number = rule.getInt(field, 1);
    if (!number)
      return number.takeError();
    parsed.*member = *number;
  }
  auto consecutive = rule.getBool("consecutive");
  if (!consecutive)
    return consecutive.takeError();
  parsed.consecutive = *consecutive;
  for (auto [field, member] : {std::pair("growth", &ScalerRule::growth),
                               std::pair("backoff", &ScalerRule::backoff),
                               std::pair("minimum", &ScalerRule::minimum)}) {
    auto number = rule.getDouble(field);
    if (!number)
      return number.takeError();
    parsed.*member = *number;
  }
  return parsed;
}

/// The rule of a program. parseMetadata has read it before.
static std::optional<ScalerRule> findRule(const WeftExecutable &executable) {
  auto meta = parseJson(
      {executable.metadata, static_cast<size_t>(executable.metadataBytes)},
      "metadata");
  const Json *rule = meta && meta->isObject() ? meta->find("scaler") : nullptr;
  if (!rule)
    return std::nullopt;
  auto parsed = parseScaler(JsonCursor(*rule, "metadata", ExitCode::Internal));
  return parsed ? std::optional(*parsed) : std::nullopt;
}

LossScaler LossScaler::of(const WeftExecutable &executable) {
  LossScaler scaler;
  scaler.scale = findState(executable, names::kLossScale);
  if (!scaler.scale)
    return scaler;
  scaler.policy = ScalePolicy::Fixed;
  scaler.first = firstValue(executable, *scaler.scale);
  scaler.state = findState(executable, names::kLossScaleState);
  if (!scaler.state)
    return scaler;
  if (std::optional<ScalerRule> rule = findRule(executable))
    static_cast<ScalerRule &>(scaler) = *rule;
  return scaler;
}
