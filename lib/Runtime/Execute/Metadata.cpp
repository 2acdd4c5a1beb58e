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

#include <filesystem>

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

namespace weft {

template <typename Io> void listFields(Io &io, InitialFile &file) {
  io.field("path", file.path);
  io.field("digest", file.digest);
}

namespace {
struct LimitedInput {
  std::string name;
  InputLimit limits;
};
} // namespace

template <typename Io> void listFields(Io &io, LimitedInput &input) {
  io.field("name", input.name);
  io.field("limit", input.limits.limit, 1);
  io.optional("ignore", input.limits.ignore);
}

/// Absent lists are empty. Programs of an older weft have one fingerprint,
/// which covers all numbers.
template <typename Io> void listFields(Io &io, Metadata &data) {
  int64_t format = 0;
  io.field("format", format, 1, 1);
  io.field("weft", data.version);
  io.field("name", data.name);
  io.field("family", data.family);
  io.field("fingerprint", data.fingerprint);
  io.field("target", data.target);
  io.optional("vocab", data.vocab, 1);
  io.optional("collective_ctas", data.collectiveCtas, 1);
  io.optional("seq", data.seq, 1);
  io.field("batch", data.batch, 1);
  io.optional("row_mean", data.rowMean);
  io.optional("metrics", data.metrics);
  io.field("accumulation", data.accumulation);
  io.optional("cpu_features", data.cpuFeatures);
  io.optional("optimizers", data.optimizers);
  io.optional("hyper_parameters", data.hyperParameters);
  io.optional("ignored_weights", data.ignoredWeights);
  io.optional("unread_weights", data.unreadWeights);
  io.optional("tokenizer_files", data.tokenizerFiles);
  io.optional("fingerprint_1", data.fingerprint1);
  io.optional("decays", data.decays);
  io.optional("debug_nan", data.debugNan);
  io.optional("config", data.config);
  io.optional("precision", data.precision);
  io.optional("recipe", data.recipe);
  io.optional("companion_files", data.companionFiles);
}

} // namespace weft

static Status readInputs(const JsonCursor &root, Metadata &out) {
  return readElements(root, "inputs", [&](const JsonCursor &from) -> Status {
    LimitedInput input;
    Status status = JsonReader::read(from, input);
    out.inputLimits[input.name] = input.limits;
    return status;
  });
}

static Status readInitialWeights(const JsonCursor &root, Metadata &out) {
  auto weights = root.find("initial_weights");
  if (!weights || weights->value().isNull())
    return Status::success();
  JsonReader fields(*weights);
  fields.field("files", out.initialWeights);
  return fields.takeStatus();
}

static Status readAllFlags(const JsonCursor &root, Metadata &out) {
  Settings defaults;
  if (Status s = readFlags(root, "defaults", defaults); !s)
    return s;
  out.defaults.insert(defaults.begin(), defaults.end());
  if (Status s = readFlags(root, "options", out.options); !s)
    return s;
  return root.find("adjustable")
             ? readFlags(root, "adjustable", out.adjustable.emplace())
             : Status::success();
}

/// The tables of the program say the same as these, which are only checked.
static Status checkUnread(const JsonCursor &root, Metadata &) {
  if (auto rule = root.find("scaler"))
    if (auto scaler = parseScaler(*rule); !scaler)
      return scaler.takeError();
  auto launches = readLaunches(root);
  return launches ? Status::success() : launches.takeError();
}

static Status readFields(const JsonCursor &root, Metadata &out) {
  if (Status s = JsonReader::read(root, out); !s)
    return s;
  for (auto *read : {readClip, readAllFlags, readCounters, readInputs, readMesh,
                     readInitialWeights, checkUnread})
    if (Status s = read(root, out); !s)
      return s;
  for (auto *files : {&out.initialWeights, &out.companionFiles})
    for (InitialFile &file : *files)
      if (file.digest.compare(0, 5, "xxh3:") == 0)
        file.digest.erase(0, 5);
  return Status::success();
}

std::string weft::tokenizerPath(const Metadata &metadata) {
  for (const InitialFile &file : metadata.companionFiles) {
    const std::filesystem::path path(file.path);
    if (path.extension() == ".gguf")
      return file.path;
    if (path.filename() == "tokenizer.json" ||
        path.filename() == "tokenizer.model" || path.filename() == "merges.txt")
      return path.has_parent_path() ? path.parent_path().string() : ".";
  }
  return "";
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
