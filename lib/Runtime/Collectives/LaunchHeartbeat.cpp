//===- LaunchHeartbeat.cpp - Heartbeats outside of MPI --------------------===//

#include "weft/Runtime/Collectives/LaunchHeartbeat.h"

#include "weft/Base/Error.h"
#include "weft/Base/Text.h"
#include "weft/Runtime/Collectives/Processes.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <unistd.h>

using namespace weft;

/// Ranks give up one after the other, so that the first one speaks alone.
static constexpr double kTurn = 0.2, kLastTurn = 1.0;

/// Of RunOptions, and of the flag.
static constexpr double kDefaultTimeout = 60, kLeastTimeout = 0.1,
                        kMostTimeout = 1e9;

static constexpr const char *kStages[] = {"absent",  "starting", "running",
                                          "unsaved", "ending",   "ended"};

std::string weft::formatHeartbeat(const LaunchHeartbeatLine &heartbeat,
                                  const std::string &word) {
  return word + " " + std::to_string(heartbeat.rank) + " " +
         kStages[int(heartbeat.stage)];
}

std::optional<LaunchHeartbeatLine>
weft::parseHeartbeat(const std::string &line, const std::string &word) {
  if (word.empty() || line.rfind(word + " ", 0) != 0)
    return std::nullopt;
  char *end = nullptr;
  const long rank = std::strtol(line.c_str() + word.size() + 1, &end, 10);
  if (rank < 0 || rank > 1 << 20)
    return std::nullopt;
  for (int stage = 0; stage <= int(RankStage::Ended); ++stage) {
    const LaunchHeartbeatLine heartbeat = {int(rank), RankStage(stage)};
    if (line == formatHeartbeat(heartbeat, word))
      return heartbeat;
  }
  return std::nullopt;
}

double weft::readTimeout(const std::vector<std::string> &args) {
  const std::string flag = "--timeout";
  for (size_t i = 0; i < args.size(); ++i) {
    std::string text;
    if (args[i] == flag && i + 1 < args.size())
      text = args[i + 1];
    else if (args[i].rfind(flag + "=", 0) == 0)
      text = args[i].substr(flag.size() + 1);
    char *end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    if (!text.empty() && !*end && seconds >= kLeastTimeout &&
        seconds <= kMostTimeout)
      return seconds;
  }
  return kDefaultTimeout;
}

double weft::heartbeatPause(double timeout) {
  return std::min(1.0, timeout / 4);
}

double weft::longestCall(double timeout) {
  return std::max(60.0, 10 * timeout);
}

LaunchHeartbeat::LaunchHeartbeat(RankStage during, RankStage after,
                                 std::string call, double timeout)
    : rank(findRankNumber()), during(during), after(after),
      call(std::move(call)), timeout(timeout) {
  // From here on the launcher knows the rank, whatever the call does to it.
  sendLaunchHeartbeat(during);
  thread = std::thread([this] { run(); });
}

LaunchHeartbeat::~LaunchHeartbeat() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isOver = true;
  }
  changed.notify_one();
  thread.join();
  sendLaunchHeartbeat(after);
}

/// One write: lines of other threads do not mix with it. A launcher that
/// does not get it ends the run.
void weft::sendLaunchHeartbeat(RankStage stage) {
  const char *word = std::getenv(kLaunchVariable);
  if (!word || !*word)
    return;
  const std::string line =
      formatHeartbeat({findRankNumber(), stage}, word) + "\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

void LaunchHeartbeat::giveUp() const {
  ::_exit(Error(ExitCode::Communication,
                "rank " + std::to_string(rank) + " expects all ranks in " +
                    call + ", but they have not come for " +
                    numberText(longestCall(timeout), 4) + " s")
              .hint("a larger --timeout waits longer")
              .report());
}

/// Counts pauses, not time: of a time in which this process was stopped, one
/// pause counts.
void LaunchHeartbeat::run() {
  const double pause = heartbeatPause(timeout);
  const double most = longestCall(timeout) + std::min(kTurn * rank, kLastTurn);
  std::unique_lock<std::mutex> lock(mutex);
  for (double waited = 0; waited < most; waited += pause) {
    if (changed.wait_for(lock, std::chrono::duration<double>(pause),
                         [&] { return isOver; }))
      return;
    sendLaunchHeartbeat(during);
  }
  giveUp();
}
