//===- Rendezvous.cpp - The address at which ranks meet -------------------===//

#include "weft/Runtime/Collectives/Rendezvous.h"

#include "weft/Formats/Digest.h"
#include "weft/Runtime/Collectives/Processes.h"

#include <cstdlib>

using namespace weft;

static constexpr int64_t kMostRanks = 1 << 20, kMostPort = 65535;
/// Ports that a run tries where another program may have the first.
static constexpr int kTriedPorts = 8;
/// Below the ports that the system gives out by itself.
static constexpr int kFirstJobPort = 20000, kJobPorts = 10000;

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

static Expected<int> readNumber(const char *name, int64_t least, int64_t most) {
  const std::string text = variableText(name);
  char *end = nullptr;
  const long number = std::strtol(text.c_str(), &end, 10);
  if (!text.empty() && !*end && number >= least && number <= most)
    return int(number);
  return usageError(name, " expects a number from ", least, " to ", most,
                    ", but got ", text.empty() ? "none" : inQuotes(text));
}

/// Reads the number of this rank and how many there are.
static Status readRanks(const char *rank, const char *ranks, Rendezvous &into) {
  auto count = readNumber(ranks, 1, kMostRanks);
  if (!count)
    return count.takeError();
  if (Status s = assign(readNumber(rank, 0, *count - 1), into.rank); !s)
    return s;
  into.ranks = *count;
  return Status::success();
}

/// `count` ports from `first` on.
static std::vector<int> portsFrom(int64_t first, int count) {
  std::vector<int> ports;
  for (int64_t port = first; port < first + count && port <= kMostPort; ++port)
    ports.push_back(int(port));
  return ports;
}

/// Ports for a run whose launcher names none, by what all ranks know of it.
static std::vector<int> portsOfJob(const std::string &job) {
  return portsFrom(kFirstJobPort + int64_t(digest64(job) % kJobPorts),
                   kTriedPorts);
}

/// MASTER_ADDR and MASTER_PORT, where they are set.
static Status readMaster(Rendezvous &into) {
  if (hasVariable("MASTER_ADDR"))
    into.host = variableText("MASTER_ADDR");
  if (!hasVariable("MASTER_PORT"))
    return Status::success();
  auto port = readNumber("MASTER_PORT", 1, kMostPort);
  if (!port)
    return port.takeError();
  into.ports = {*port};
  return Status::success();
}

std::string weft::firstHost(const std::string &list) {
  std::string host;
  for (size_t i = 0; i < list.size() && list[i] != ','; ++i) {
    if (list[i] != '[') {
      host += list[i];
      continue;
    }
    const size_t end = list.find_first_of("-,]", i);
    host += list.substr(i + 1, end == std::string::npos ? end : end - i - 1);
    i = list.find(']', i);
    if (i == std::string::npos)
      break;
  }
  return host;
}

//===----------------------------------------------------------------------===//
// Launchers
//===----------------------------------------------------------------------===//

static Status readTorch(Rendezvous &into) {
  if (Status s = readRanks("RANK", "WORLD_SIZE", into); !s)
    return s;
  for (const char *name : {"MASTER_ADDR", "MASTER_PORT"})
    if (!hasVariable(name))
      return usageError("expects ", name,
                        " with RANK and WORLD_SIZE, but it is not set");
  if (Status s = readMaster(into); !s)
    return s;
  // The agent has the port of its own store.
  if (variableText("TORCHELASTIC_USE_AGENT_STORE") == "True")
    into.ports = portsFrom(into.ports.front() + 1, kTriedPorts);
  into.key = "torchrun " + variableText("TORCHELASTIC_RUN_ID") + " " +
             variableText("TORCHELASTIC_RESTART_COUNT");
  return Status::success();
}

static Status readSlurm(Rendezvous &into) {
  if (Status s = readRanks("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", into); !s)
    return s;
  into.key = "srun " + variableText("SLURM_JOB_ID") + "." +
             variableText("SLURM_STEP_ID") + " " +
             variableText("SLURM_RESTART_COUNT");
  into.host = firstHost(variableText(hasVariable("SLURM_STEP_NODELIST")
                                         ? "SLURM_STEP_NODELIST"
                                         : "SLURM_JOB_NODELIST"));
  into.ports = portsOfJob(into.key);
  if (into.host.empty())
    return usageError("expects SLURM_STEP_NODELIST of srun, but it is not set");
  return readMaster(into);
}

static Status readMpi(const Launcher &launcher, Rendezvous &into) {
  const bool isOpenMpi = hasVariable("OMPI_COMM_WORLD_SIZE");
  const char *rank = isOpenMpi                  ? "OMPI_COMM_WORLD_RANK"
                     : hasVariable("PMIX_RANK") ? "PMIX_RANK"
                                                : "PMI_RANK";
  const char *ranks = isOpenMpi ? "OMPI_COMM_WORLD_SIZE" : "PMI_SIZE";
  if (Status s = readRanks(rank, ranks, into); !s)
    return s;
  into.key = launcher.name + " " + variableText("OMPI_MCA_ess_base_jobid") +
             " " + variableText("PMIX_NAMESPACE") + " " +
             variableText("PMI_JOBID");
  into.ports = portsOfJob(into.key);
  if (launcher.localCount == into.ranks)
    into.host = "127.0.0.1";
  if (Status s = readMaster(into); !s)
    return s;
  if (into.host.empty())
    return usageError("expects MASTER_ADDR, the host of rank 0, since ",
                      launcher.name, " does not say that all ranks run on ",
                      "one machine")
        .hint("mpirun -x MASTER_ADDR=HOST ...");
  return Status::success();
}

/// Slurm knows the hosts, also where it offers PMIx.
static Status readLauncher(const Launcher &launcher, Rendezvous &into) {
  if (launcher.name == "srun")
    return readSlurm(into);
  return launcher.hasMpi ? readMpi(launcher, into) : readTorch(into);
}

Expected<Rendezvous> weft::findRendezvous() {
  const std::optional<Launcher> launcher = findLauncher();
  if (!launcher)
    return usageError(
        "expects a launcher, but RANK and WORLD_SIZE are not set");
  Rendezvous found;
  if (Status s = readLauncher(*launcher, found); !s)
    return s.takeError();
  found.isOneMachine = launcher->localCount == found.ranks;
  found.key = digest128(variableText(kSecretVariable) + "\n" + found.key);
  found.interface = variableText(kInterfaceVariable);
  if (found.rank != 0 || !hasVariable(kListenerVariable))
    return found;
  auto listener = readNumber(kListenerVariable, 3, kMostRanks);
  if (!listener)
    return listener.takeError();
  found.listener = *listener;
  return found;
}
