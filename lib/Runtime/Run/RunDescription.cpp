//===- RunDescription.cpp - The lines that a run begins with --------------===//

#include "weft/Base/CountText.h"
#include "weft/Base/Text.h"
#include "weft/Formats/Json.h"
#include "weft/Runtime/Checkpoints/CheckpointShares.h"
#include "weft/Runtime/Devices/Device.h"
#include "weft/Runtime/Execute/DTypes.h"
#include "weft/Runtime/Execute/Metadata.h"
#include "weft/Runtime/Execute/StateSegments.h"
#include "weft/Runtime/Run/Evaluate.h"
#include "weft/Runtime/Run/Run.h"

#include <set>

using namespace weft;

int64_t weft::countParameters(const WeftExecutable &executable) {
  int64_t count = 0;
  for (const NamedTensor &weight : namedTensors(executable, WEFT_PARAM))
    count += weight.elements;
  return count;
}

static const char *scheduleName(RateScheduleKind kind) {
  static const char *const names[] = {"constant", "linear", "cosine", "wsd"};
  return names[int(kind)];
}

/// The types of all tensors of a kind: "F32", "F16, F32"; empty if none.
static std::string dtypesOf(const WeftExecutable &executable, int32_t kind) {
  std::set<std::string> names;
  for (const WeftTensor &tensor : tensorsOf(executable))
    if (tensor.kind == kind)
      names.insert(dtypeName(tensor.dtype));
  return joined(names);
}

std::string Run::describeTypes() const {
  std::string text = "types     ";
  if (!metadata.precision.empty())
    text += "precision " + metadata.precision + ", ";
  if (!metadata.recipe.empty())
    text += "recipe " + metadata.recipe + ", ";
  text += "weights " + dtypesOf(executable, WEFT_PARAM);
  std::string copies = dtypesOf(executable, WEFT_WORKING);
  return text + (copies.empty() ? "" : ", copies " + copies) + "\n";
}

std::string Run::describeScaler() const {
  LossScaler scaler = LossScaler::of(executable);
  if (scaler.policy == ScalePolicy::None)
    return "";
  std::string text = "scale     ";
  if (!scaler.isDynamic())
    return text + "fixed" +
           (scaler.first ? " at " + numberText(*scaler.first) : "") + "\n";
  text += std::string("dynamic (") + policyName(scaler.policy) + ")";
  if (scaler.first && !resume)
    text += " from " + numberText(*scaler.first);
  text += ", times " + numberText(scaler.growth) + " after " +
          std::to_string(scaler.interval) + " clean steps, times " +
          numberText(scaler.backoff) + " after a skip";
  if (scaler.hysteresis > 1)
    text += ", hysteresis " + std::to_string(scaler.hysteresis) +
            (scaler.consecutive ? " (consecutive)" : "");
  if (scaler.minimum > 0)
    text += ", at least " + numberText(scaler.minimum);
  return text + "\n";
}

/// Of the metrics header: null without a loss scale.
static Json scalerJson(const LossScaler &scaler) {
  if (scaler.policy == ScalePolicy::None)
    return Json();
  Json object = Json::object();
  object.set("policy", policyName(scaler.policy));
  object.set("init", scaler.first ? Json(double(*scaler.first)) : Json());
  if (!scaler.isDynamic())
    return object;
  object.set("growth", scaler.growth);
  object.set("backoff", scaler.backoff);
  object.set("interval", scaler.interval);
  object.set("hysteresis", scaler.hysteresis);
  object.set("consecutive", scaler.consecutive);
  object.set("minimum", scaler.minimum);
  return object;
}

static std::string countBatches(int64_t count) {
  return concat(count, count == 1 ? " batch" : " batches");
}

std::string Run::describeEvaluation() const {
  const EvalPlan plan(metadata, data.val->rows(), options.evalSteps);
  return concat(
      "evaluate  ", plan.rows(), " of ", plan.available(), " rows in ",
      countBatches(plan.batches()), " of ", metadata.batch,
      inputs.ranks() > 1 ? " over " + std::to_string(inputs.ranks()) + " ranks"
                         : "",
      "\n");
}

std::string Run::describePrediction() const {
  const int64_t rows = data.train->rows();
  return concat("predict   ", countText(rows, "row"), " in ",
                countBatches((rows + metadata.batch - 1) / metadata.batch),
                " of ", metadata.batch,
                inputs.ranks() > 1
                    ? " over " + std::to_string(inputs.ranks()) + " ranks"
                    : "",
                "\n");
}

std::string Run::describeData() const {
  std::string text;
  auto describe = [&](const DataSource &source) {
    return options.nameOf(source.path()) + " " + source.describe() + "\n";
  };
  if (data.train)
    text += "data      " + describe(*data.train);
  if (data.val)
    text += "val data  " + describe(*data.val);
  if (options.evalOnly)
    text += describeEvaluation();
  if (options.predicts)
    text += describePrediction();
  return text;
}

/// The tensors that --check-replicas compares.
std::string Run::describeReplicas() const {
  if (options.checkReplicas == 0)
    return "";
  const WeftContext &context = ranks.first().context();
  const ReplicaCount count =
      countReplicas(executable, context.ranks(), context.rank());
  return concat("replicas  ", count.shared, " of ", count.all,
                " tensors on several ranks, ", humanBytes(count.bytes),
                " each, compared every ", options.checkReplicas, " steps\n");
}

std::string Run::describeTraining() const {
  const RateSchedule &rate = options.schedule;
  int64_t rows = metadata.batch * options.accum * inputs.ranks();
  std::string text;
  text += concat("step      ", options.accum, " x ", metadata.batch, " rows");
  if (inputs.ranks() > 1)
    text += " x " + std::to_string(inputs.ranks()) + " ranks";
  if (metadata.isLanguageModel())
    text += ", " + groupedText(rows * metadata.seq) + " tokens";
  text += state.step < *options.steps
              ? "; steps " + std::to_string(state.step + 1) + " to " +
                    std::to_string(*options.steps)
              : "; no steps left";
  if (options.epochs)
    text += ", " + std::to_string(*options.epochs) + " x " +
            std::to_string(data.train->rows()) + " rows of data";
  text += "\norder     " +
          (state.cursor.shuffle
               ? "shuffled by seed " + std::to_string(state.cursor.shuffleSeed)
               : std::string("as in the file")) +
          "\n";
  text += describeScaler();
  text += std::string("lr        ") + scheduleName(rate.kind) + ", " +
          Json(rate.lr).compact() + " after " + std::to_string(rate.warmup) +
          " warmup steps\n";
  text += options.saveDir.empty()
              ? "saves     nowhere: without --save-dir the weights are lost\n"
              : "saves     " + options.saveDir + ", " +
                    humanBytes(checkpointBytes(executable)) + " each\n";
  return text + describeReplicas();
}

/// A kept flag behind a space. Data have the names that the user knows.
static std::string describeKept(const std::string &flag,
                                const RunOptions &options) {
  const std::string name = flag.substr(2, flag.find('=') - 2);
  if (name == "data-name" || name == "val-data-name")
    return "";
  if (name == "data" || name == "val-data")
    return " --" + name + "=" +
           printable(options.nameOf(flag.substr(flag.find('=') + 1)), 200);
  return " " + printable(flag, 200);
}

std::string Run::describe() const {
  std::string text = "model     " + metadata.name + ", " +
                     groupedText(countParameters(executable)) + " parameters\n";
  text += describeTypes();
  text += "arena     " + humanBytes(executable.arenaBytes) + ", " +
          ranks.first().context().device().describe() + "\n";
  text +=
      "start     " +
      (resume ? "step " + std::to_string(state.step) + ", " + resume->directory
              : weights->describe(state.seed)) +
      "\n";
  if (!options.kept.empty()) {
    text += "kept     ";
    for (const std::string &flag : options.kept)
      text += describeKept(flag, options);
    text += "\n";
  }
  text += describeData();
  return options.trains() ? text + describeTraining() : text;
}

static void setDevice(Json &head, const Device &device) {
  head.set("device", device.describe());
  head.set("device_facts", device.observations());
}

std::string Run::metricsHeader() const {
  const RateSchedule &rate = options.schedule;
  Json head = Json::object();
  head.set("weft", metadata.version);
  head.set("model", metadata.name);
  head.set("fingerprint", metadata.fingerprint);
  if (!metadata.fingerprint1.empty())
    head.set("fingerprint_1", metadata.fingerprint1);
  head.set("target", metadata.target);
  if (!metadata.precision.empty())
    head.set("precision", metadata.precision);
  if (!metadata.recipe.empty())
    head.set("recipe", metadata.recipe);
  head.set("weights", dtypesOf(executable, WEFT_PARAM));
  if (std::string copies = dtypesOf(executable, WEFT_WORKING); !copies.empty())
    head.set("copies", copies);
  head.set("scaler", scalerJson(LossScaler::of(executable)));
  head.set("parameters", countParameters(executable));
  head.set("arena_bytes", executable.arenaBytes);
  head.set("threads", ranks.first().context().threads());
  if (!ranks.first().context().device().hostView())
    setDevice(head, ranks.first().context().device());
  head.set("ranks", ranks.first().context().ranks());
  head.set("data", options.nameOf(options.data));
  if (data.train)
    head.set("rows", data.train->rows());
  head.set("batch", metadata.batch);
  if (metadata.isLanguageModel())
    head.set("seq", metadata.seq);
  head.set("accum", options.accum);
  if (options.steps)
    head.set("steps", *options.steps);
  if (options.epochs)
    head.set("epochs", *options.epochs);
  head.set("seed", state.seed);
  head.set("shuffle", state.cursor.shuffle);
  head.set("optimizers", Json::arrayOf(metadata.optimizers));
  head.set("lr_schedule", scheduleName(rate.kind));
  head.set("lr", rate.lr);
  head.set("min_lr", rate.minLr);
  head.set("warmup", rate.warmup);
  head.set("lr_decay_steps", rate.decaySteps);
  head.set("weight_decay", options.weightDecay);
  for (const auto &[input, decay] : options.ownDecays)
    head.set(input, decay);
  head.set("beta1", options.beta1);
  head.set("beta2", options.beta2);
  head.set("eps", options.eps);
  head.set("momentum", options.momentum);
  head.set("clip", options.clip);
  return head.compact();
}
