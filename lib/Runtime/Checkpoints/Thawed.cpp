//===- Thawed.cpp - Parameters that a checkpoint has as frozen ------------===//

#include "weft/Runtime/Checkpoints/Thawed.h"

#include "weft/Formats/Text.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"

using namespace weft;

std::string Thawed::describe() const {
  if (params.empty())
    return "";
  const size_t others = params.size() - 1;
  return "the optimizer state of " + inQuotes(params.front()) +
         (others == 0 ? ""
                      : " and of " + std::to_string(others) + " other" +
                            (others == 1 ? "" : "s")) +
         " begins anew: frozen in the checkpoint";
}

namespace {
/// The states that the program keeps of parameters, and its step counters.
struct OptimizerStates {
  std::vector<std::string> params; // that have some
  std::map<std::string, std::vector<std::string>> ofParam;
  std::vector<std::string> counters;
};
} // namespace

static OptimizerStates optimizerStates(const WeftExecutable &executable) {
  OptimizerStates states;
  for (const NamedTensor &tensor : namedTensors(executable, WEFT_OPTIMIZER)) {
    if (tensor.param.empty()) {
      states.counters.push_back(tensor.name);
      continue;
    }
    std::vector<std::string> &list = states.ofParam[tensor.param];
    if (list.empty())
      states.params.push_back(tensor.param);
    list.push_back(tensor.name);
  }
  return states;
}

/// Whether the checkpoint has the values of a parameter alone.
static bool wasFrozen(const Manifest &manifest, const std::string &param,
                      const std::vector<std::string> &states) {
  for (const std::string &state : states)
    if (manifest.findTensor(state))
      return false;
  return manifest.findTensor(param);
}

/// A parameter of no counter of its own shares that of all.
static std::string counterOf(const std::string &param,
                             const OptimizerStates &states,
                             const Metadata &metadata) {
  auto found = metadata.counters.find(param);
  if (found != metadata.counters.end())
    return found->second;
  return states.counters.empty() ? "" : states.counters.front();
}

Expected<Thawed> weft::findThawed(const Manifest &manifest,
                                  const std::string &directory,
                                  const WeftExecutable &executable,
                                  const Metadata &metadata) {
  const OptimizerStates states = optimizerStates(executable);
  Thawed thawed;
  std::map<std::string, std::string> firstOf; // of a counter that goes on
  for (const std::string &param : states.params) {
    const std::vector<std::string> &list = states.ofParam.at(param);
    if (wasFrozen(manifest, param, list)) {
      thawed.params.push_back(param);
      thawed.fresh.insert(list.begin(), list.end());
    } else {
      firstOf.insert({counterOf(param, states, metadata), param});
    }
  }
  // Where all are new, it is another optimizer.
  if (firstOf.empty())
    return Thawed();
  for (const std::string &param : thawed.params) {
    const std::string counter = counterOf(param, states, metadata);
    auto other = firstOf.find(counter);
    if (other != firstOf.end())
      return checkpointError(
                 "parameter " + inQuotes(param) +
                 " was frozen in the checkpoint, but its steps are counted "
                 "with those of " +
                 inQuotes(other->second))
          .at(directory)
          .hint("put what was frozen into a [[group]] of --groups with a "
                "`name` of its own, so that its optimizer starts at step 0");
    thawed.fresh.insert(counter);
  }
  if (!thawed.params.empty())
    for (const std::string &counter : states.counters)
      if (!manifest.findTensor(counter) && !firstOf.count(counter))
        thawed.fresh.insert(counter);
  return thawed;
}
