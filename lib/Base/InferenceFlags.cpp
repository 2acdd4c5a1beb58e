//===- InferenceFlags.cpp - Help of flags without training ----------------===//

#include "weft/Base/FlagNames.h"

#include <algorithm>
#include <iterator>

using namespace weft;

namespace {
struct HelpText {
  std::string_view name;
  const char *help;
};
} // namespace

/// The texts of flags that mean less without training.
static constexpr HelpText kTexts[] = {
    {"batch", "rows that each rank computes at once"},
    {"zero", "ZeRO stage: 3 shards parameters, the others replicate them"},
    {"gather-dtype",
     "type that wider parameters are gathered in; auto: their own"},
    {"epilogues", "let products of CUDA devices compute gelu"},
    {"loss-chunks",
     "compute logits and their losses in N chunks of rows; auto: more than one "
     "only where a memory limit needs it"},
    {"memory-limit",
     "memory of the program: fail if it needs more (exit 4); K, M, G are "
     "accepted"},
    {"data", "data with the rows: text, .bin tokens, or safetensors"},
    {"seed", "seed of sampling"},
    {"init-from", "weights; none: draw them from the seed"},
    {"resume", "use the weights of the newest checkpoint, or of PATH"},
    {"save-dir", "folder of the checkpoints of --resume=auto"},
    {"eval-steps", "batches of the evaluation; 0: all, the default"},
    {"eval-only", "print the loss of --val-data and, of a language model, the "
                  "perplexity"},
    {"predictions", "write the results of each row of --data as safetensors"},
    {"metrics", "write the results of the evaluation as JSON lines"},
    {"tensorboard", "write them as an event file in DIR"},
    {"progress", "progress output; auto: a bar on a terminal, else lines"},
};

/// Whether a flag of a run has an effect only where it trains.
static bool isOfTraining(const FlagSpec &spec) {
  constexpr std::string_view names[] = {
      "shuffle",   "save-every", "keep",  "keep-best",    "eval-every",
      "log-every", "dump-grads", "trace", "sample-every", "check-replicas",
  };
  if (spec.group & CompileFlag)
    return onlyTrains(std::string(spec.name));
  return spec.topic == FlagTopic::Steps || spec.topic == FlagTopic::Optimizer ||
         std::find(std::begin(names), std::end(names), spec.name) !=
             std::end(names);
}

std::vector<FlagSpec> weft::flagsWithoutTraining(std::vector<FlagSpec> specs) {
  specs.erase(
      std::remove_if(specs.begin(), specs.end(),
                     [](const FlagSpec &spec) { return isOfTraining(spec); }),
      specs.end());
  for (FlagSpec &spec : specs) {
    for (const HelpText &text : kTexts)
      if (text.name == spec.name)
        spec.help = text.help;
    if (spec.name == std::string_view("eval-steps"))
      spec.defaultText = "0";
  }
  return specs;
}
