//===- Metadata.cpp - The description inside an executable ----------------===//

#include "weft/Runtime/Execute/Metadata.h"

#include "weft/Abi/Names.h"
#include "weft/Abi/RecordTypes.h"
#include "weft/Formats/Json.h"
#include "weft/Formats/JsonFields.h"
#include "weft/Formats/Launches.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace weft;

bool Metadata::hasHyperParameter(const std::string &name) const {
  return std::find(hyperParameters.begin(), hyperParameters.end(), name) !=
         hyperParameters.end();
}

int64_t Metadata::ranks() const {
  int64_t ranks = 1;
  for (const MeshAxis &axis : mesh)
    ranks *= axis.ranks;
  return ranks;
}

static Status readString(const JsonCursor &root, const char *name,
                         std::string &out) {
  return assign(root.getString(name), out);
}

/// An absent list is an empty one.
static Status readStrings(const JsonCursor &root, const char *name,
                          std::vector<std::string> &out) {
  return readElements(root, name, [&](const JsonCursor &element) -> Status {
    auto text = element.asString();
    if (!text)
      return text.takeError();
    out.push_back(*text);
    return Status::success();
  });
}

static Status readOptionalInt(const JsonCursor &root, const char *name,
                              int64_t &out) {
  auto value = root.find(name);
  if (!value)
    return Status::success();
  auto number = value->asInt(1);
  if (!number)
    return number.takeError();
  out = *number;
  return Status::success();
}

/// A number or a string becomes the text that the flag table parses.
static Expected<std::string> flagText(const JsonCursor &value) {
  if (value.value().isNumber() || value.value().isBool())
    return value.value().compact();
  return value.asString();
}

/// An object of flags, if it is there.
static Status readFlags(const JsonCursor &root, const char *name,
                        Settings &out) {
  auto read = [&](const std::string &flag, const JsonCursor &value) -> Status {
    auto text = flagText(value);
    if (!text)
      return text.takeError();
    out.push_back({flag, *text});
    return Status::success();
  };
  return readMembers(root, name, read);
}

static Status readDefaults(const JsonCursor &root, Metadata &out) {
  Settings defaults;
  if (Status s = readFlags(root, "defaults", defaults); !s)
    return s;
  out.defaults.insert(defaults.begin(), defaults.end());
  return readFlags(root, "options", out.options);
}

/// Programs of an older weft have one fingerprint, which covers all numbers.
static Status readIdentity(const JsonCursor &root, Metadata &out) {
  if (root.find("fingerprint_1"))
    if (Status s = readString(root, "fingerprint_1", out.fingerprint1); !s)
      return s;
  if (!root.find("adjustable"))
    return Status::success();
  return readFlags(root, "adjustable", out.adjustable.emplace());
}

static Status readDecays(const JsonCursor &root, Metadata &out) {
  auto read = [&](const std::string &group, const JsonCursor &value) -> Status {
    return assign(value.asDouble(), out.decays[group]);
  };
  return readMembers(root, "decays", read);
}

static Status readCounters(const JsonCursor &root, Metadata &out) {
  auto read = [&](const std::string &counter,
                  const JsonCursor &params) -> Status {
    auto size = params.arraySize();
    if (!size)
      return size.takeError();
    for (size_t i = 0; i < *size; ++i) {
      auto param = params.element(i).asString();
      if (!param)
        return param.takeError();
      if (!out.counters.insert({*param, counter}).second)
        return params.element(i).error("expects each parameter once, but got " +
                                       inQuotes(*param) + " again");
    }
    return Status::success();
  };
  return readMembers(root, "counters", read);
}

static Status readClip(const JsonCursor &root, Metadata &out) {
  auto clip = root.get("clip_norm");
  if (!clip)
    return clip.takeError();
  if (clip->value().isNull())
    return Status::success();
  auto text = flagText(*clip);
  if (!text)
    return text.takeError();
  out.canClip = true;
  out.clipNorm = *text;
  return Status::success();
}

static Status readMesh(const JsonCursor &root, Metadata &out) {
  return readElements(root, "mesh", [&](const JsonCursor &axis) -> Status {
    auto name = axis.getString("axis");
    if (!name)
      return name.takeError();
    auto ranks = axis.getInt("ranks", 1,
                             std::numeric_limits<int32_t>::max() / out.ranks());
    if (!ranks)
      return ranks.takeError();
    out.mesh.push_back({*name, *ranks});
    return Status::success();
  });
}

static Status readInputs(const JsonCursor &root, Metadata &out) {
  return readElements(root, "inputs", [&](const JsonCursor &input) -> Status {
    auto name = input.getString("name");
    if (!name)
      return name.takeError();
    auto limit = input.getInt("limit", 1);
    if (!limit)
      return limit.takeError();
    out.inputLimits[*name].limit = *limit;
    if (!input.find("ignore"))
      return Status::success();
    return assign(input.getInt("ignore"), out.inputLimits[*name].ignore);
  });
}

static Status readFiles(const JsonCursor &files,
                        std::vector<InitialFile> &out) {
  auto size = files.arraySize();
  if (!size)
    return size.takeError();
  for (size_t i = 0; i < *size; ++i) {
    InitialFile file;
    if (Status s = readString(files.element(i), "path", file.path); !s)
      return s;
    if (Status s = readString(files.element(i), "digest", file.digest); !s)
      return s;
    if (file.digest.compare(0, 5, "xxh3:") == 0)
      file.digest.erase(0, 5);
    out.push_back(file);
  }
  return Status::success();
}

static Status readModelFiles(const JsonCursor &root, Metadata &out) {
  if (auto files = root.find("companion_files"))
    if (Status s = readFiles(*files, out.companionFiles); !s)
      return s;
  auto weights = root.find("initial_weights");
  if (!weights || weights->value().isNull())
    return Status::success();
  auto files = weights->get("files");
  if (!files)
    return files.takeError();
  return readFiles(*files, out.initialWeights);
}

static Status readScalars(const JsonCursor &root, Metadata &out) {
  for (auto [name, text] :
       {std::pair("weft", &out.version), std::pair("name", &out.name),
        std::pair("family", &out.family),
        std::pair("fingerprint", &out.fingerprint),
        std::pair("target", &out.target)})
    if (Status s = readString(root, name, *text); !s)
      return s;
  for (auto [name, number] : {std::pair("vocab", &out.vocab),
                              std::pair("collective_ctas", &out.collectiveCtas),
                              std::pair("seq", &out.seq)})
    if (Status s = readOptionalInt(root, name, *number); !s)
      return s;
  if (Status s = assign(root.getInt("batch", 1), out.batch); !s)
    return s;
  if (auto rule = root.find("scaler"))
    if (auto scaler = parseScaler(*rule); !scaler)
      return scaler.takeError();
  if (root.find("row_mean"))
    if (Status s = assign(root.getBool("row_mean"), out.rowMean); !s)
      return s;
  return assign(root.getBool("accumulation"), out.accumulation);
}

static Status readFields(const JsonCursor &root, Metadata &out) {
  auto format = root.getInt("format", 1, 1);
  if (!format)
    return format.takeError();
  if (Status s = readScalars(root, out); !s)
    return s;
  for (auto [name, list] : {std::pair("cpu_features", &out.cpuFeatures),
                            std::pair("optimizers", &out.optimizers),
                            std::pair("hyper_parameters", &out.hyperParameters),
                            std::pair("ignored_weights", &out.ignoredWeights),
                            std::pair("unread_weights", &out.unreadWeights),
                            std::pair("tokenizer_files", &out.tokenizerFiles)})
    if (Status s = readStrings(root, name, *list); !s)
      return s;
  for (auto *read : {readClip, readIdentity, readDefaults, readDecays,
                     readCounters, readInputs, readMesh})
    if (Status s = read(root, out); !s)
      return s;
  // Of no use here: the tables say the same.
  if (auto launches = readLaunches(root); !launches)
    return launches.takeError();
  if (auto table = root.find("debug_nan"))
    out.debugNan = table->value();
  for (auto [name, text] : {std::pair("config", &out.config),
                            std::pair("precision", &out.precision),
                            std::pair("recipe", &out.recipe)})
    if (root.find(name))
      if (Status s = readString(root, name, *text); !s)
        return s;
  return readModelFiles(root, out);
}

Expected<Metadata> weft::parseMetadata(std::string_view text) {
  auto document = parseJson(text, "<metadata>");
  if (!document)
    return document.takeError().withCode(ExitCode::Internal);
  Metadata metadata;
  JsonCursor root(*document, "<metadata>", ExitCode::Internal);
  if (Status s = readFields(root, metadata); !s)
    return s.takeError();
  return metadata;
}

//===- The loss scale -----------------------------------------------------===//

const char *weft::policyName(ScalePolicy policy) {
  static const char *const names[] = {"none",      "fixed", "torch",
                                      "deepspeed", "mmcv",  "deepspeed_fused",
                                      "colossalai"};
  return names[int(policy)];
}

static const WeftTensor *findState(const WeftExecutable &executable,
                                   const char *name) {
  for (const WeftTensor &tensor : tensorsOf(executable))
    if (tensor.kind == WEFT_SCALER && std::strcmp(tensor.name, name) == 0)
      return &tensor;
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
    if (Status s = assign(rule.getInt(field, 1), parsed.*member); !s)
      return s.takeError();
  }
  if (Status s = assign(rule.getBool("consecutive"), parsed.consecutive); !s)
    return s.takeError();
  for (auto [field, member] : {std::pair("growth", &ScalerRule::growth),
                               std::pair("backoff", &ScalerRule::backoff),
                               std::pair("minimum", &ScalerRule::minimum)}) {
    if (Status s = assign(rule.getDouble(field), parsed.*member); !s)
      return s.takeError();
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
