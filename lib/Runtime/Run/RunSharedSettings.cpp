//===- RunSharedSettings.cpp - Settings that a run compares ---------------===//

#include "weft/Runtime/Run/CpuLevel.h"
#include "weft/Runtime/Run/Run.h"
#include "weft/Runtime/Run/SharedSettings.h"

#include <algorithm>

using namespace weft;

/// A difference that would lead processes apart is an error of all.
Status Run::settleSharedSettings(Status own,
                                 const std::vector<SharedSetting> &mine) {
  auto all = ranks.reach(std::move(own), formatSharedSettings(mine));
  if (!all)
    return all.takeError();
  Status equal = compareSharedSettings(*all);
  if (equal)
    return equal;
  return equal.takeError().saidBy(isFirst()).ofAllProcesses();
}

/// The program and the flags.
Status Run::checkStart(Status ready) {
  std::vector<SharedSetting> mine = {
      {"the program", programDigest(executable)}};
  for (const std::string &flag : options.common) {
    const size_t end = flag.find('=');
    mine.push_back({flag.substr(0, end),
                    end == std::string::npos ? "on" : flag.substr(end + 1)});
  }
  if (Status s = settleSharedSettings(std::move(ready), mine); !s)
    return s;
  return chooseCommonLevel();
}

/// Processors may differ, the roundings of ranks may not.
Status Run::chooseCommonLevel() {
  const std::string own = cpuLevel();
  auto all = ranks.reach(Status::success(), own);
  if (!all)
    return all.takeError();
  const size_t least = findLeastLevel(*all);
  const std::string &level = (*all)[least];
  if (std::all_of(all->begin(), all->end(),
                  [&](const std::string &other) { return other == level; }))
    return Status::success();
  capCpuLevel(level);
  if (isFirst())
    warn("processors of ranks differ: oneDNN makes all products as for rank " +
         std::to_string(least) + ", " + level);
  return Status::success();
}

static std::string identityText(const std::optional<DataIdentity> &identity) {
  if (!identity)
    return "none";
  return identity->kind + " with " + std::to_string(identity->length) + " " +
         identity->xxh3;
}

/// Data, checkpoint and seed.
Status Run::checkFound() {
  return settleSharedSettings(
      Status::success(),
      {{"the data", identityText(record.data), ExitCode::Input},
       {"the validation data", identityText(record.valData), ExitCode::Input},
       {"the step to go on from", std::to_string(state.step),
        ExitCode::Checkpoint},
       {"the seed", std::to_string(state.seed), ExitCode::Checkpoint}});
}
