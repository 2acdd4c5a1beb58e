//===- CpuBinding.cpp - CPUs next to a device -----------------------------===//

#include "weft/Runtime/Devices/CpuBinding.h"

#include "weft/Base/Results.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sstream>
#include <sys/syscall.h>
#include <unistd.h>

using namespace weft;

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// A number that the mask of a process can hold.
static std::optional<int> parseCpu(const std::string &text) {
  if (text.empty() || text.size() > 5 ||
      text.find_first_not_of("0123456789") != text.npos)
    return std::nullopt;
  const int cpu = std::atoi(text.c_str());
  return cpu < CPU_SETSIZE ? std::optional(cpu) : std::nullopt;
}

std::optional<std::vector<int>> weft::parseCpuList(const std::string &text) {
  std::vector<int> cpus;
  std::istringstream parts(text.substr(0, text.find_last_not_of(" \n") + 1));
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t dash = part.find('-');
    const auto first = parseCpu(part.substr(0, dash));
    const auto last =
        dash == part.npos ? first : parseCpu(part.substr(dash + 1));
    if (!first || !last || *last < *first ||
        (!cpus.empty() && *first <= cpus.back()))
      return std::nullopt;
    for (int cpu = *first; cpu <= *last; ++cpu)
      cpus.push_back(cpu);
  }
  return cpus;
}

std::string weft::cpuListText(const std::vector<int> &cpus) {
  std::string text;
  for (size_t i = 0; i < cpus.size();) {
    size_t end = i + 1;
    while (end < cpus.size() && cpus[end] == cpus[end - 1] + 1)
      ++end;
    text += (text.empty() ? "" : ",") + std::to_string(cpus[i]);
    if (end > i + 1)
      text += "-" + std::to_string(cpus[end - 1]);
    i = end;
  }
  return text;
}

std::string CpuBinding::describe() const {
  if (cpus.empty())
    return "not bound: " + refusal;
  return cpuListText(cpus) + " of NUMA node " + std::to_string(node) +
         (refusal.empty() ? "" : ", " + refusal);
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// The first line of a small file of the kernel.
static std::optional<std::string> readLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line))
    return std::nullopt;
  return line;
}

static std::optional<std::vector<int>> readCpus(const std::string &path) {
  const auto line = readLine(path);
  return line ? parseCpuList(*line) : std::nullopt;
}

static CpuBinding refuse(std::string why) { return {{}, -1, std::move(why)}; }

static std::optional<std::vector<int>>
readLocalCpus(const std::string &root, const std::string &device, int node) {
  auto cpus = readCpus(device + "/local_cpulist");
  if (!cpus || cpus->empty())
    cpus = readCpus(root + "/devices/system/node/node" + std::to_string(node) +
                    "/cpulist");
  return cpus;
}

/// CUDA writes bus ids with capital letters, the kernel with small ones.
CpuBinding weft::chooseCpus(const std::string &root, std::string busId,
                            const std::vector<int> &allowed) {
  const auto online = readCpus(root + "/devices/system/cpu/online");
  if (!online)
    return refuse("the kernel does not list the CPUs of the machine");
  if (allowed != *online)
    return refuse(concat("the process was started with ", allowed.size(),
                         " of ", online->size(), " CPUs"));
  std::transform(busId.begin(), busId.end(), busId.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  const std::string device = root + "/bus/pci/devices/" + busId;
  const auto line = readLine(device + "/numa_node");
  if (!line)
    return refuse("the kernel does not name the NUMA node of " + busId);
  const auto node = parseCpu(*line);
  if (!node)
    return refuse(busId + " has NUMA node " + *line);
  const auto local = readLocalCpus(root, device, *node);
  if (!local || local->empty())
    return refuse("the kernel does not list the CPUs of NUMA node " + *line);
  if (!std::includes(allowed.begin(), allowed.end(), local->begin(),
                     local->end()))
    return refuse("the process may not use the CPUs " + cpuListText(*local) +
                  " of NUMA node " + *line);
  return {*local, *node, ""};
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

std::vector<int> weft::allowedCpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0)
    return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set))
      cpus.push_back(cpu);
  return cpus;
}

/// Threads that exist keep their masks when another one changes its own. A
/// thread may end meanwhile. The number of the error; 0 for none.
static int bindThreads(const cpu_set_t &set) {
  std::error_code error;
  std::filesystem::directory_iterator threads("/proc/self/task", error), end;
  for (; !error && threads != end; threads.increment(error)) {
    const pid_t thread = std::atoi(threads->path().filename().c_str());
    if (::sched_setaffinity(thread, sizeof set, &set) != 0 && errno != ESRCH)
      return errno;
  }
  return error.value();
}

/// Another node serves what does not fit there.
static bool preferNode(int node) {
  unsigned long mask[16] = {};
  constexpr int bits = int(sizeof mask[0]) * 8;
  if (node >= 16 * bits)
    return false;
  mask[node / bits] = 1ul << node % bits;
  return ::syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask, sizeof mask * 8) ==
         0;
}

void weft::bindProcess(CpuBinding &binding) {
  if (binding.cpus.empty())
    return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : binding.cpus)
    CPU_SET(cpu, &set);
  cpu_set_t before;
  if (::sched_getaffinity(0, sizeof before, &before) != 0)
    binding = refuse("sched_getaffinity failed: " + errnoText(errno));
  else if (const int error = bindThreads(set)) {
    // Some threads may be bound already.
    (void)bindThreads(before);
    binding = refuse("sched_setaffinity failed: " + errnoText(error));
  } else if (!preferNode(binding.node))
    binding.refusal = "set_mempolicy failed: " + errnoText(errno);
}
