//===- Scaler.cpp - The loss scale of a program ---------------------------===//

#include "weft/Runtime/Execute/Scaler.h"

#include "weft/Formats/Json.h"
#include "weft/Formats/Names.h"
#include "weft/Runtime/Execute/RecordTypes.h"

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
  if (constant && constant->count > 0 && constant->dtype == WEFT_F32)
    return static_cast<float>(*entriesOf<double>(*constant));
  return std::nullopt;
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

/// How `apply` makes the next scale, if a command does.
static const WeftScalerUpdateRecord *
findUpdate(const WeftExecutable &executable) {
  const WeftProgram *apply = findProgram(executable, names::kApply);
  for (int32_t i = 0; apply && i < apply->numCommands; ++i)
    if (const auto *update = findRecord<WEFT_SCALER_UPDATE>(apply->commands[i]))
      return update;
  return nullptr;
}

static std::optional<int64_t> policyNumber(const std::string &name) {
  for (int64_t i = 0; i <= WEFT_SCALER_COLOSSALAI; ++i)
    if (name == policyName(ScalePolicy(int(ScalePolicy::Torch) + int(i))))
      return i;
  return std::nullopt;
}

Expected<WeftScalerUpdateRecord> weft::parseScaler(const JsonCursor &rule) {
  auto name = rule.getString("policy");
  if (!name)
    return name.takeError();
  std::optional<int64_t> policy = policyNumber(*name);
  if (!policy)
    return rule.error("expects a policy of --scaler, but got " + *name);
  WeftScalerUpdateRecord record = {};
  record.policy = *policy;
  for (auto [field, member] :
       {std::pair("interval", &WeftScalerUpdateRecord::interval),
        std::pair("hysteresis", &WeftScalerUpdateRecord::hysteresis)}) {
    auto number = rule.getInt(field, 1);
    if (!number)
      return number.takeError();
    record.*member = *number;
  }
  auto consecutive = rule.getBool("consecutive");
  if (!consecutive)
    return consecutive.takeError();
  record.consecutive = *consecutive;
  for (auto [field, member] :
       {std::pair("growth", &WeftScalerUpdateRecord::growth),
        std::pair("backoff", &WeftScalerUpdateRecord::backoff),
        std::pair("minimum", &WeftScalerUpdateRecord::minimum)}) {
    auto number = rule.getDouble(field);
    if (!number)
      return number.takeError();
    record.*member = *number;
  }
  return record;
}

/// The same from the metadata, which has it if a kernel makes it. parseMetadata
/// has read it before.
static std::optional<WeftScalerUpdateRecord>
findRule(const WeftExecutable &executable) {
  auto meta = parseJson(
      {executable.metadata, static_cast<size_t>(executable.metadataBytes)},
      "metadata");
  const Json *rule = meta && meta->isObject() ? meta->find("scaler") : nullptr;
  if (!rule)
    return std::nullopt;
  auto record = parseScaler(JsonCursor(*rule, "metadata", ExitCode::Internal));
  return record ? std::optional(*record) : std::nullopt;
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
  const WeftScalerUpdateRecord *command = findUpdate(executable);
  std::optional<WeftScalerUpdateRecord> update =
      command ? std::optional(*command) : findRule(executable);
  if (!update)
    return scaler;
  scaler.policy =
      static_cast<ScalePolicy>(int(ScalePolicy::Torch) + int(update->policy));
  scaler.interval = update->interval;
  scaler.hysteresis = update->hysteresis;
  scaler.consecutive = update->consecutive != 0;
  scaler.growth = update->growth;
  scaler.backoff = update->backoff;
  scaler.minimum = update->minimum;
  return scaler;
}
