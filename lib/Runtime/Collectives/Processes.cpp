//===- Processes.cpp - Processes that a launcher has started --------------===//

#include "weft/Runtime/Collectives/Processes.h"

#include <algorithm>
#include <cstdlib>
#include <sched.h>
#include <unistd.h>

using namespace weft;

RankProcess::~RankProcess() = default;

static bool isSet(const char *name) {
  const char *value = std::getenv(name);
  return value && *value;
}

/// A number of the environment; 0 for anything else.
static int numberOf(const char *name) {
  const char *value = std::getenv(name);
  const long number = value ? std::strtol(value, nullptr, 10) : 0;
  return number > 0 && number <= 1 << 20 ? int(number) : 0;
}

std::optional<Launcher> weft::findLauncher() {
  if (isSet("OMPI_COMM_WORLD_SIZE"))
    return Launcher{"mpirun", numberOf("OMPI_COMM_WORLD_SIZE")};
  // srun sets them with --mpi=pmix and --mpi=pmi2.
  if (isSet("PMIX_RANK") || isSet("PMI_RANK"))
    return Launcher{isSet("SLURM_STEP_ID") ? "srun" : "a launcher of PMIx",
                    isSet("PMI_SIZE") ? numberOf("PMI_SIZE")
                                      : numberOf("SLURM_STEP_NUM_TASKS")};
  return std::nullopt;
}

int weft::findRankNumber() {
  for (const char *name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (isSet(name))
      return numberOf(name);
  return 0;
}

int weft::countLocal() {
  return std::max({1, numberOf("OMPI_COMM_WORLD_LOCAL_SIZE"),
                   numberOf("SLURM_TASKS_PER_NODE")});
}

int weft::countUnbound() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0 ||
      CPU_COUNT(&set) < sysconf(_SC_NPROCESSORS_ONLN))
    return 1;
  return countLocal();
}

std::string weft::findForeignLauncher() {
  if (isSet("TORCHELASTIC_RUN_ID") ||
      (isSet("WORLD_SIZE") && isSet("LOCAL_RANK")))
    return "torchrun";
  if (numberOf("SLURM_STEP_NUM_TASKS") > 1)
    return "srun without --mpi=pmix";
  return "";
}
