//===- RunFileUse.cpp - Flags of a file by the work of a run --------------===//

#include "weft/Base/FlagNames.h"
#include "weft/Base/RunFile.h"

#include <algorithm>

using namespace weft;

RunUse weft::runUseOf(const FlagValues &flags) {
  if (flags.isSet("tune"))
    return RunUse::Measure;
  if (flags.getSwitch("eval-only"))
    return RunUse::Evaluate;
  if (flags.isSet("predictions"))
    return RunUse::Predict;
  if (flags.isSet("generate") && flags.getInt("steps") == 0 &&
      !flags.isSet("epochs"))
    return RunUse::Sample;
  return RunUse::Train;
}

static bool isOneOf(std::string_view name,
                    std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether a run that does not train uses the flag.
static bool isUsed(const FlagSpec &spec, RunUse use, bool resumes) {
  const std::string_view name = spec.name;
  if (!(spec.group & RunFlag))
    return true;
  if (use == RunUse::Measure)
    return isOneOf(name, {"tune", "overwrite", "progress", "dry-run"}) ||
           (spec.topic == FlagTopic::Ranks && name != "check-replicas");
  switch (spec.topic) {
  case FlagTopic::Data:
    return name == "tokenizer" ||
           (use == RunUse::Evaluate && name != "shuffle") ||
           (use == RunUse::Predict &&
            isOneOf(name, {"data", "data-name", "data-format"}));
  case FlagTopic::Ranks:
    return name != "check-replicas";
  case FlagTopic::Samples:
    return use == RunUse::Sample && name != "sample-every";
  case FlagTopic::Weights:
  case FlagTopic::CudaDevices:
  case FlagTopic::General:
    return true;
  default:
    return isOneOf(name, {"eval-only", "resume", "progress"}) ||
           (use == RunUse::Predict &&
            isOneOf(name, {"predictions", "overwrite"})) ||
           (name == "save-dir" && resumes);
  }
}

FlagValues weft::withoutFileValues(const FlagValues &flags, unsigned groups) {
  FlagValues rest = flags;
  for (const FlagSpec &spec : flags.specs())
    if ((spec.group & groups) && flags.origin(spec.name) == FlagOrigin::File)
      rest = rest.withoutFileValue(spec.name);
  return rest;
}

FlagValues weft::withoutTraining(const FlagValues &flags) {
  FlagValues rest = flags;
  if (flags.getSwitch("inference"))
    for (const FlagSpec &spec : flags.specs())
      if (onlyTrains(spec.name) && flags.origin(spec.name) == FlagOrigin::File)
        rest = rest.withoutFileValue(spec.name);
  return rest;
}

FlagValues weft::withoutUnused(const FlagValues &flags, RunUse use) {
  const std::vector<FlagSpec> specs = flags.specs();
  auto has = [&](std::string_view name) {
    return std::any_of(specs.begin(), specs.end(),
                       [&](const FlagSpec &spec) { return spec.name == name; });
  };
  const std::string resume = has("resume") ? flags.getText("resume") : "never";
  const bool resumes = resume != "never";
  FlagValues used = flags;
  for (const FlagSpec &spec : specs) {
    if (flags.origin(spec.name) != FlagOrigin::File)
      continue;
    // A resumed run has its weights; --resume=auto may find no checkpoint.
    const bool hasWeights = resumes && resume != "auto" &&
                            spec.name == std::string_view("init-from");
    if (hasWeights || (use != RunUse::Train && !isUsed(spec, use, resumes)))
      used = used.withoutFileValue(spec.name);
  }
  return used;
}
