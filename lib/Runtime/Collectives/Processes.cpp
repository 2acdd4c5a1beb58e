//===- Processes.cpp - Processes that a launcher has started --------------===//

#include "weft/Runtime/Collectives/Processes.h"

#include "weft/Base/Results.h"
#include "weft/Base/Text.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sched.h>
#include <unistd.h>

using namespace weft;

RankProcess::~RankProcess() = default;

bool weft::hasVariable(const char *name) {
  const char *value = std::getenv(name);
  return value && *value;
}

std::string weft::variableText(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// A number of the environment; 0 for anything else.
static int numberOf(const char *name) {
  const char *value = std::getenv(name);
  const long number = value ? std::strtol(value, nullptr, 10) : 0;
  return number > 0 && number <= 1 << 20 ? int(number) : 0;
}

/// Reads the variables with these names.
static Launcher launcherOf(std::string name, const char *processes,
                           const char *rank, const char *localCount,
                           const char *localRank) {
  Launcher launcher;
  launcher.name = std::move(name);
  launcher.processes = numberOf(processes);
  launcher.rank = numberOf(rank);
  launcher.localCount = numberOf(localCount);
  launcher.localRank = numberOf(localRank);
  return launcher;
}

static Launcher torchLauncher() {
  return launcherOf(hasVariable("TORCHELASTIC_RUN_ID")
                        ? "torchrun"
                        : "the launcher that sets WORLD_SIZE",
                    "WORLD_SIZE", "RANK", "LOCAL_WORLD_SIZE", "LOCAL_RANK");
}

static Launcher openMpiLauncher() {
  Launcher launcher =
      launcherOf("mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
                 "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK");
  launcher.hasMpi = true;
  return launcher;
}

static Launcher slurmLauncher() {
  return launcherOf("srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID",
                    "SLURM_TASKS_PER_NODE", "SLURM_LOCALID");
}

/// srun sets PMIX_RANK with --mpi=pmix, and PMI_RANK with --mpi=pmi2.
static Launcher pmiLauncher() {
  Launcher launcher = slurmLauncher();
  if (!hasVariable("SLURM_STEP_ID"))
    launcher.name = "a launcher of PMIx";
  if (hasVariable("PMI_SIZE"))
    launcher.processes = numberOf("PMI_SIZE");
  launcher.rank = numberOf(hasVariable("PMIX_RANK") ? "PMIX_RANK" : "PMI_RANK");
  launcher.hasMpi = true;
  return launcher;
}

std::optional<Launcher> weft::findLauncher() {
  const bool isTorch = hasVariable("RANK") && hasVariable("WORLD_SIZE");
  if (isTorch && hasVariable("MASTER_ADDR") && hasVariable("MASTER_PORT"))
    return torchLauncher();
  if (hasVariable("OMPI_COMM_WORLD_SIZE"))
    return openMpiLauncher();
  if (hasVariable("PMIX_RANK") || hasVariable("PMI_RANK"))
    return pmiLauncher();
  if (hasVariable("SLURM_PROCID") && numberOf("SLURM_STEP_NUM_TASKS") > 1)
    return slurmLauncher();
  if (isTorch)
    return torchLauncher();
  return std::nullopt;
}

int weft::findRankNumber() {
  const std::optional<Launcher> launcher = findLauncher();
  return launcher ? launcher->rank : 0;
}

int weft::countLocal() {
  const std::optional<Launcher> launcher = findLauncher();
  return launcher ? std::max(1, launcher->localCount) : 1;
}

int weft::findLocalRank() {
  const std::optional<Launcher> launcher = findLauncher();
  return launcher ? launcher->localRank : 0;
}

int weft::countUnbound() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0 ||
      CPU_COUNT(&set) < sysconf(_SC_NPROCESSORS_ONLN))
    return 1;
  return countLocal();
}

//===- Heartbeats for `weft launch` ---------------------------------------===//

/// Ranks give up one after the other, so that the first one speaks alone.
static constexpr double kTurn = 0.2, kLastTurn = 1.0;

/// Of RunOptions, and of the flag.
static constexpr double kDefaultTimeout = 60, kLeastTimeout = 0.1,
                        kMostTimeout = 1e9;

static constexpr const char *kStages[] = {"absent",  "starting", "running",
                                          "unsaved", "ending",   "ended"};

std::string weft::formatHeartbeat(const LaunchHeartbeatLine &heartbeat,
                                  const std::string &word) {
  return concat(word, " ", heartbeat.rank, " ", kStages[int(heartbeat.stage)]);
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
  ::_exit(communicationError("rank ", rank, " expects all ranks in ", call,
                             ", but they have not come for ",
                             numberText(longestCall(timeout), 4), " s")
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
