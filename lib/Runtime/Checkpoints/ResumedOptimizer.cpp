//===- ResumedOptimizer.cpp - Optimizer state from a checkpoint -----------===//

#include "weft/Base/Text.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Execute/StateSegments.h"

#include <algorithm>

using namespace weft;

const std::string &ResumedOptimizer::savedName(const std::string &name) const {
  auto found = counters.find(name);
  return found == counters.end() ? name : found->second;
}

std::string ResumedOptimizer::describe() const {
  if (thawed.empty())
    return "";
  const size_t others = thawed.size() - 1;
  return "the optimizer state of " + inQuotes(thawed.front()) +
         (others == 0 ? ""
                      : " and of " + std::to_string(others) + " other" +
                            (others == 1 ? "" : "s")) +
         " starts at 0: frozen in the checkpoint";
}

Json weft::describeCounters(const Metadata &metadata) {
  std::map<std::string, Json> lists;
  for (const auto &[param, counter] : metadata.counters)
    lists.insert({counter, Json::array()}).first->second.push(param);
  Json table = Json::object();
  for (auto &[counter, params] : lists)
    table.set(counter, std::move(params));
  return table;
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

namespace {
/// Step counters and the parameters that they count.
struct Counters {
  std::set<std::string> names;
  std::map<std::string, std::string> byParam; // empty: not recorded

  /// The counter of a parameter; "" if it is unknown.
  std::string of(const std::string &param) const {
    auto found = byParam.find(param);
    if (found != byParam.end())
      return found->second;
    return names.size() == 1 ? *names.begin() : "";
  }
};

/// The optimizer states of the program's parameters.
struct Moments {
  std::vector<std::string> params; // that have some
  std::map<std::string, std::vector<std::string>> byParam;
};
} // namespace

static Counters savedCounters(const Manifest &manifest, const Json &model) {
  Counters saved;
  for (const ManifestTensor &tensor : manifest.tensors)
    if (tensor.kind == "optimizer" && tensor.type == TensorType::I64 &&
        tensor.shape.empty())
      saved.names.insert(tensor.name);
  const Json *table = model.find("counters");
  if (!table || !table->isObject())
    return saved;
  for (const JsonMember &member : table->asObject())
    if (member.value.isArray())
      for (const Json &param : member.value.asArray())
        if (param.isString() && saved.names.count(member.name))
          saved.byParam[param.asString()] = member.name;
  return saved;
}

static Counters countersOf(const WeftExecutable &executable,
                           const Metadata &metadata) {
  Counters counters;
  for (const NamedTensor &tensor : namedTensors(executable, WEFT_OPTIMIZER))
    if (tensor.param.empty())
      counters.names.insert(tensor.name);
  counters.byParam = metadata.counters;
  return counters;
}

static Moments momentsOf(const WeftExecutable &executable) {
  Moments moments;
  for (const NamedTensor &tensor : namedTensors(executable, WEFT_OPTIMIZER)) {
    if (tensor.param.empty())
      continue;
    std::vector<std::string> &list = moments.byParam[tensor.param];
    if (list.empty())
      moments.params.push_back(tensor.param);
    list.push_back(tensor.name);
  }
  return moments;
}

/// Whether the checkpoint has a parameter but none of its optimizer states.
static bool wasFrozen(const Manifest &manifest, const std::string &param,
                      const std::vector<std::string> &states) {
  for (const std::string &state : states)
    if (manifest.findTensor(state))
      return false;
  return manifest.findTensor(param);
}

//===----------------------------------------------------------------------===//
// Restored and fresh states
//===----------------------------------------------------------------------===//

namespace {
/// A counter that continues: the saved counter, and one of its parameters.
struct ContinuedCounter {
  std::string saved, param;
};

class Resuming {
public:
  Resuming(const Manifest &manifest, const std::string &directory,
           Counters counters, Counters saved)
      : manifest(manifest), directory(directory), counters(std::move(counters)),
        saved(std::move(saved)) {}

  Expected<ResumedOptimizer> run(const Moments &moments);

private:
  Status add(const std::string &param, const std::vector<std::string> &states);
  Status beginCounters();
  Error together(const std::string &text) const {
    return checkpointError(text).at(directory);
  }

  const Manifest &manifest;
  const std::string &directory;
  const Counters counters, saved;
  std::map<std::string, ContinuedCounter>
      continued; // by counter of the program
  ResumedOptimizer result;
};
} // namespace

Status Resuming::add(const std::string &param,
                     const std::vector<std::string> &states) {
  if (wasFrozen(manifest, param, states)) {
    result.thawed.push_back(param);
    result.fresh.insert(states.begin(), states.end());
    return Status::success();
  }
  const ContinuedCounter next{saved.of(param), param};
  const ContinuedCounter &first =
      continued.insert({counters.of(param), next}).first->second;
  if (first.saved == next.saved)
    return Status::success();
  return together("the steps of " + inQuotes(first.param) + " and " +
                  inQuotes(param) +
                  " have separate counters in the checkpoint, but one in the "
                  "program")
      .hint("keep the `name` of the [[group]] of --groups that one of them is "
            "in");
}

/// Starts counters at 0: counters of thawed parameters, and counters that no
/// parameter with moments uses and the checkpoint does not have. Nothing reads
/// the latter.
Status Resuming::beginCounters() {
  for (const std::string &param : result.thawed) {
    const std::string counter = counters.of(param);
    auto other = continued.find(counter);
    if (other != continued.end())
      return together("parameter " + inQuotes(param) +
                      " was frozen in the checkpoint, but shares a step "
                      "counter with " +
                      inQuotes(other->second.param))
          .hint("put the frozen parameters into a [[group]] of --groups with a "
                "`name` of its own, so that their optimizer starts at step 0");
    result.fresh.insert(counter);
  }
  for (const std::string &counter : counters.names)
    if (!continued.count(counter) && !manifest.findTensor(counter))
      result.fresh.insert(counter);
  return Status::success();
}

Expected<ResumedOptimizer> Resuming::run(const Moments &moments) {
  for (const std::string &param : moments.params)
    if (Status s = add(param, moments.byParam.at(param)); !s)
      return s.takeError();
  // If all states are fresh, the program has another optimizer.
  if (continued.empty())
    return ResumedOptimizer();
  if (Status s = beginCounters(); !s)
    return s.takeError();
  for (const auto &[counter, from] : continued)
    if (!from.saved.empty())
      result.counters[counter] = from.saved;
  for (const auto &[param, counter] : saved.byParam)
    result.savedCounters.insert(counter);
  if (saved.names.size() == 1)
    result.savedCounters = saved.names;
  return std::move(result);
}

Expected<ResumedOptimizer> weft::resumeOptimizer(
    const Manifest &manifest, const Json &model, const std::string &directory,
    const WeftExecutable &executable, const Metadata &metadata) {
  return Resuming(manifest, directory, countersOf(executable, metadata),
                  savedCounters(manifest, model))
      .run(momentsOf(executable));
}

//===- Loss scale ---------------------------------------------------------===//

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
  return checkpointError("expects a checkpoint with ",
                         describe(policyName(program.policy)),
                         ", but got one with ", describe(*saved))
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
  const std::string was = "; it was " + numberText(saved);
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
