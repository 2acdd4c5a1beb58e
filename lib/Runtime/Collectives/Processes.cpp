//===- Processes.cpp - Processes that a launcher has started --------------===//

#include "weft/Runtime/Collectives/Processes.h"

#include <algorithm>
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
