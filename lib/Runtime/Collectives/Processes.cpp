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
  return {isSet("TORCHELASTIC_RUN_ID") ? "torchrun"
                                       : "the launcher that sets WORLD_SIZE",
          numberOf("WORLD_SIZE"), numberOf("RANK"),
          numberOf("LOCAL_WORLD_SIZE"), /*hasMpi=*/false};
}

/// srun sets PMIX_RANK with --mpi=pmix, and PMI_RANK with --mpi=pmi2.
static Launcher pmiLauncher() {
  const bool isSlurm = isSet("SLURM_STEP_ID");
  return {isSlurm ? "srun" : "a launcher of PMIx",
          numberOf(isSet("PMI_SIZE") ? "PMI_SIZE" : "SLURM_STEP_NUM_TASKS"),
          numberOf(isSet("PMIX_RANK") ? "PMIX_RANK" : "PMI_RANK"),
          numberOf("SLURM_TASKS_PER_NODE"), /*hasMpi=*/true};
}

std::optional<Launcher> weft::findLauncher() {
  const bool isTorch = isSet("RANK") && isSet("WORLD_SIZE");
  if (isTorch && isSet("MASTER_ADDR") && isSet("MASTER_PORT"))
    return torchLauncher();
  if (isSet("OMPI_COMM_WORLD_SIZE"))
    return Launcher{"mpirun", numberOf("OMPI_COMM_WORLD_SIZE"),
                    numberOf("OMPI_COMM_WORLD_RANK"),
                    numberOf("OMPI_COMM_WORLD_LOCAL_SIZE"), /*hasMpi=*/true};
  if (isSet("PMIX_RANK") || isSet("PMI_RANK"))
    return pmiLauncher();
  if (isSet("SLURM_PROCID") && numberOf("SLURM_STEP_NUM_TASKS") > 1)
    return Launcher{"srun", numberOf("SLURM_STEP_NUM_TASKS"),
                    numberOf("SLURM_PROCID"), numberOf("SLURM_TASKS_PER_NODE"),
                    /*hasMpi=*/false};
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

int weft::countUnbound() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0 ||
      CPU_COUNT(&set) < sysconf(_SC_NPROCESSORS_ONLN))
    return 1;
  return countLocal();
}
