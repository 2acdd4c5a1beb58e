//===- Processes.cpp - Processes that a launcher has started --------------===//

#include "weft/Runtime/Collectives/Processes.h"

#include "Environment.h"

#include <algorithm>
#include <cstdlib>
#include <sched.h>
#include <unistd.h>

using namespace weft;

RankProcess::~RankProcess() = default;

bool weft::isSet(const char *name) {
  const char *value = std::getenv(name);
  return value && *value;
}

std::string weft::valueOf(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// A number of the environment; 0 for anything else.
static int numberOf(const char *name) {
  const char *value = std::getenv(name);
  const long number = value ? std::strtol(value, nullptr, 10) : 0;
  return number > 0 && number <= 1 << 20 ? int(number) : 0;
}

static Launcher torchLauncher() {
  Launcher launcher;
  launcher.name = isSet("TORCHELASTIC_RUN_ID")
                      ? "torchrun"
                      : "the launcher that sets WORLD_SIZE";
  launcher.processes = numberOf("WORLD_SIZE");
  launcher.rank = numberOf("RANK");
  launcher.localCount = numberOf("LOCAL_WORLD_SIZE");
  launcher.localRank = numberOf("LOCAL_RANK");
  return launcher;
}

static Launcher openMpiLauncher() {
  Launcher launcher;
  launcher.name = "mpirun";
  launcher.processes = numberOf("OMPI_COMM_WORLD_SIZE");
  launcher.rank = numberOf("OMPI_COMM_WORLD_RANK");
  launcher.localCount = numberOf("OMPI_COMM_WORLD_LOCAL_SIZE");
  launcher.localRank = numberOf("OMPI_COMM_WORLD_LOCAL_RANK");
  launcher.hasMpi = true;
  return launcher;
}

static Launcher slurmLauncher() {
  Launcher launcher;
  launcher.name = "srun";
  launcher.processes = numberOf("SLURM_STEP_NUM_TASKS");
  launcher.rank = numberOf("SLURM_PROCID");
  launcher.localCount = numberOf("SLURM_TASKS_PER_NODE");
  launcher.localRank = numberOf("SLURM_LOCALID");
  return launcher;
}

/// srun sets PMIX_RANK with --mpi=pmix, and PMI_RANK with --mpi=pmi2.
static Launcher pmiLauncher() {
  Launcher launcher = slurmLauncher();
  if (!isSet("SLURM_STEP_ID"))
    launcher.name = "a launcher of PMIx";
  if (isSet("PMI_SIZE"))
    launcher.processes = numberOf("PMI_SIZE");
  launcher.rank = numberOf(isSet("PMIX_RANK") ? "PMIX_RANK" : "PMI_RANK");
  launcher.hasMpi = true;
  return launcher;
}

std::optional<Launcher> weft::findLauncher() {
  const bool isTorch = isSet("RANK") && isSet("WORLD_SIZE");
  if (isTorch && isSet("MASTER_ADDR") && isSet("MASTER_PORT"))
    return torchLauncher();
  if (isSet("OMPI_COMM_WORLD_SIZE"))
    return openMpiLauncher();
  if (isSet("PMIX_RANK") || isSet("PMI_RANK"))
    return pmiLauncher();
  if (isSet("SLURM_PROCID") && numberOf("SLURM_STEP_NUM_TASKS") > 1)
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
