//===- RunDescription.cpp - What a run is about to do ---------------------===//

#include "weft/Formats/Json.h"
#include "weft/Runtime/DTypes.h"
#include "weft/Runtime/Run.h"

using namespace weft;

int64_t weft::countParameters(const WeftExecutable &executable) {
  int64_t count = 0;
  for (int32_t i = 0; i < executable.numTensors; ++i)
    if (executable.tensors[i].kind == WEFT_PARAM)
      count += elementsOf(executable.tensors[i]);
  return count;
}

/// 1234567 as "1,234,567".
static std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  for (int64_t at = int64_t(text.size()) - 3; at > 0; at -= 3)
    text.insert(size_t(at), ",");
  return text;
}

static const char *scheduleName(RateScheduleKind kind) {
  static const char *const names[] = {"constant", "linear", "cosine", "wsd"};
  return names[int(kind)];
}

std::string Run::describeTraining() const {
  const RateSchedule &rate = options.schedule;
  int64_t rows = metadata.batch * options.accum;
  std::string text = "data      " + data.train->describe() + "\n";
  if (data.val)
    text += "val data  " + data.val->describe() + "\n";
  text += "step      " + std::to_string(options.accum) + " x " +
          std::to_string(metadata.batch) + " rows";
  if (metadata.isLanguageModel())
    text += ", " + grouped(rows * metadata.seq) + " tokens";
  text += "; steps " + std::to_string(state.step + 1) + " to " +
          std::to_string(*options.steps) + "\n";
  text += std::string("lr        ") + scheduleName(rate.kind) + ", " +
          Json(rate.lr).compact() + " after " + std::to_string(rate.warmup) +
          " warmup steps\n";
  if (!options.saveDir.empty())
    text += "saves     " + options.saveDir + ", " +
            humanBytes(checkpointBytes(executable)) + " each\n";
  return text;
}

std::string Run::describe() const {
  std::string text = "model     " + metadata.name + ", " +
                     grouped(countParameters(executable)) + " parameters\n";
  text += "memory    " + humanBytes(executable.arenaBytes) + ", " +
          std::to_string(context->threads()) + " threads\n";
  text +=
      "start     " +
      (resume ? "step " + std::to_string(state.step) + ", " + resume->directory
              : weights->describe(state.seed)) +
      "\n";
  return options.trains() ? text + describeTraining() : text;
}

std::string Run::metricsHeader() const {
  const RateSchedule &rate = options.schedule;
  Json head = Json::object();
  head.set("weft", metadata.version);
  head.set("model", metadata.name);
  head.set("fingerprint", metadata.fingerprint);
  head.set("target", metadata.target);
  head.set("parameters", countParameters(executable));
  head.set("arena_bytes", executable.arenaBytes);
  head.set("threads", context->threads());
  head.set("data", options.data);
  head.set("rows", data.train->rows());
  head.set("batch", metadata.batch);
  if (metadata.isLanguageModel())
    head.set("seq", metadata.seq);
  head.set("accum", options.accum);
  head.set("steps", *options.steps);
  head.set("seed", state.seed);
  head.set("shuffle", state.cursor.shuffle);
  head.set("optimizers", Json::arrayOf(metadata.optimizers));
  head.set("lr_schedule", scheduleName(rate.kind));
  head.set("lr", rate.lr);
  head.set("min_lr", rate.minLr);
  head.set("warmup", rate.warmup);
  head.set("lr_decay_steps", rate.decaySteps);
  head.set("weight_decay", options.weightDecay);
  if (metadata.usesOptimizer("adamw") && metadata.optimizers.size() > 1)
    head.set("adamw_weight_decay", options.adamwWeightDecay);
  head.set("beta1", options.beta1);
  head.set("beta2", options.beta2);
  head.set("eps", options.eps);
  head.set("momentum", options.momentum);
  head.set("clip", options.clip);
  return head.compact();
}
