//===- LaunchWatch.cpp - Heartbeats of ranks outside of MPI ---------------===//

#include "LaunchWatch.h"

#include "weft/Base/Text.h"
#include "weft/Runtime/Collectives/Transport.h"

#include <algorithm>
#include <unistd.h>

using namespace weft;

/// Seconds that mpirun has at least to start a process, before its first
/// heartbeat.
static constexpr double kStartSeconds = 10;

LaunchWatch::LaunchWatch(int64_t ranks, double timeout)
    : key("weft-launch-" + std::to_string(::getpid())), timeout(timeout),
      all(size_t(ranks)) {}

void LaunchWatch::take(std::string &line) {
  const size_t at = line.find(key + " ");
  if (at == std::string::npos)
    return;
  const auto heartbeat = parseHeartbeat(line.substr(at), key);
  if (!heartbeat || size_t(heartbeat->rank) >= all.size())
    return;
  line.resize(at);
  Rank &rank = all[size_t(heartbeat->rank)];
  rank.stage = std::max(rank.stage, heartbeat->stage);
  rank.heardAt = waited;
  if (rank.stage == RankStage::Ending && !isEnding) {
    isEnding = true;
    endingAt = waited;
  }
}

void LaunchWatch::pass(double seconds) { waited += std::min(seconds, pause()); }

bool LaunchWatch::haveAllStarted() const {
  return std::all_of(all.begin(), all.end(), [](const Rank &rank) {
    return rank.stage != RankStage::Absent;
  });
}

bool LaunchWatch::isUnsaved() const {
  return std::any_of(all.begin(), all.end(), [](const Rank &rank) {
    return rank.stage == RankStage::Unsaved;
  });
}

double LaunchWatch::limitOf(const Rank &rank) const {
  return rank.stage == RankStage::Absent ? std::max(timeout, kStartSeconds)
                                         : timeout;
}

/// A rank that runs owes a heartbeat from when another one has come to its end:
/// all do at the same time.
bool LaunchWatch::isSilent(const Rank &rank) const {
  const bool runs =
      rank.stage == RankStage::Running || rank.stage == RankStage::Unsaved;
  if (rank.stage == RankStage::Ended || (runs && !isEnding))
    return false;
  const double since = runs ? std::max(rank.heardAt, endingAt) : rank.heardAt;
  return waited - since >= limitOf(rank);
}

std::string LaunchWatch::findSilence() const {
  std::vector<int> silent;
  double limit = 0;
  for (size_t number = 0; number < all.size(); ++number)
    if (isSilent(all[number])) {
      silent.push_back(int(number));
      limit = std::max(limit, limitOf(all[number]));
    }
  if (silent.empty())
    return "";
  return "expects all " + std::to_string(all.size()) + " ranks to " +
         (isEnding ? "end" : "start") + ", but " + rankList(silent) +
         (silent.size() == 1 ? " has" : " have") + " sent no heartbeat for " +
         numberText(limit, 4) + " s";
}
