//===- RunAlike.cpp - What the processes of a run compare -----------------===//

#include "weft/Runtime/Run/Alike.h"
#include "weft/Runtime/Run/CpuLevel.h"
#include "weft/Runtime/Run/Run.h"

#include <algorithm>

using namespace weft;

/// What would make processes part sooner or later is an error of all.
Status Run::settleAlike(Status own, const std::vector<Alike> &mine) {
  auto all = ranks.agree(std::move(own), alikeText(mine));
  if (!all)
    return all.takeError();
  Status alike = checkAlike(*all);
  if (alike)
    return alike;
  return alike.takeError().saidBy(isFirst()).ofAllProcesses();
}

/// What they were started with.
Status Run::checkStart(Status ready) {
  std::vector<Alike> mine = {{"the program", programDigest(executable)}};
  for (const std::string &flag : options.common) {
    const size_t end = flag.find('=');
    mine.push_back({flag.substr(0, end),
                    end == std::string::npos ? "on" : flag.substr(end + 1)});
  }
  if (Status s = settleAlike(std::move(ready), mine); !s)
    return s;
  return agreeOnLevel();
}

/// Processors may differ, the roundings of ranks may not.
Status Run::agreeOnLevel() {
  const std::string own = cpuLevel();
  auto all = ranks.agree(Status::success(), own);
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

/// What they have found.
Status Run::checkFound() {
  return settleAlike(
      Status::success(),
      {{"the data", identityText(record.data), ExitCode::Input},
       {"the validation data", identityText(record.valData), ExitCode::Input},
       {"the step to go on from", std::to_string(state.step),
        ExitCode::Checkpoint},
       {"the seed", std::to_string(state.seed), ExitCode::Checkpoint}});
}
