//===- InferenceFlags.cpp - The flags of a program without training -------===//

#include "weft/Base/FlagNames.h"

#include <algorithm>
#include <iterator>

using namespace weft;

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
    if (spec.inferenceHelp)
      spec.help = spec.inferenceHelp;
    if (spec.name == std::string_view("eval-steps"))
      spec.defaultText = "0";
  }
  return specs;
}
