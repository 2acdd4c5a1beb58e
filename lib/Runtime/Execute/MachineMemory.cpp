//===- MachineMemory.cpp - Memory use and limits of a process -------------===//

#include "weft/Runtime/Execute/MachineMemory.h"

#include "weft/Base/Text.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>

using namespace weft;

/// The number after `name` at the start of a line, times `unit`.
static std::optional<int64_t>
findNumber(const std::string &path, const std::string &name, int64_t unit = 1) {
  std::ifstream file(path);
  for (std::string word, line; file >> word; std::getline(file, line))
    if (int64_t value; word == name && file >> value)
      return value * unit;
  return std::nullopt;
}

/// The number at the start of a file; none for "max".
static std::optional<int64_t> readNumber(const std::string &path) {
  std::ifstream file(path);
  int64_t value = 0;
  if (file >> value)
    return value;
  return std::nullopt;
}

int64_t weft::peakMemory() {
  if (auto peak = findNumber("/proc/self/status", "VmHWM:", 1024))
    return *peak;
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

int64_t weft::availableMemory(const std::string &root) {
  const std::string path = root + "/proc/meminfo";
  auto available = findNumber(path, "MemAvailable:", 1024);
  if (!available)
    return INT64_MAX;
  return *available + findNumber(path, "SwapFree:", 1024).value_or(0);
}

static void lower(MemoryBudget &budget, int64_t bytes, const char *limit) {
  if (bytes >= budget.bytes)
    return;
  budget.bytes = std::max<int64_t>(bytes, 0);
  budget.limit = limit;
}

//===----------------------------------------------------------------------===//
// Control groups
//===----------------------------------------------------------------------===//

namespace {

/// File names of one version of control groups.
struct GroupFiles {
  const char *limit, *usage, *inactive, *active;
};
constexpr GroupFiles kVersion1 = {"/memory.limit_in_bytes",
                                  "/memory.usage_in_bytes",
                                  "total_inactive_file", "total_active_file"};
constexpr GroupFiles kVersion2 = {"/memory.max", "/memory.current",
                                  "inactive_file", "active_file"};

} // namespace

/// Lowers the budget to the limit of a group less its used memory. Cached files
/// do not count as used, since the system can drop them.
static void lowerToGroup(MemoryBudget &budget, const std::string &folder,
                         const GroupFiles &files) {
  auto limit = readNumber(folder + files.limit);
  if (!limit)
    return;
  const std::string stat = folder + "/memory.stat";
  int64_t used = readNumber(folder + files.usage).value_or(0) -
                 findNumber(stat, files.inactive).value_or(0) -
                 findNumber(stat, files.active).value_or(0);
  lower(budget, *limit - std::max<int64_t>(used, 0),
        "the control group leaves");
}

/// The group at `path` below a mount, and all of its ancestors. In a container
/// the path may be a path of the host, of which only the mount exists here.
static void lowerToGroups(MemoryBudget &budget, const std::string &mount,
                          std::string path, const GroupFiles &files) {
  while (!path.empty() && path != "/") {
    lowerToGroup(budget, mount + path, files);
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
  lowerToGroup(budget, mount, files);
}

static void lowerToGroups(MemoryBudget &budget, const std::string &root) {
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream file(root + "/proc/self/cgroup");
  // "4:memory:/path" of version 1, "0::/path" of version 2.
  for (std::string line; std::getline(file, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      lowerToGroups(budget, mount, path, kVersion2);
      lowerToGroups(budget, mount + "/unified", path, kVersion2);
    } else if (("," + controllers + ",").find(",memory,") !=
               std::string::npos) {
      lowerToGroups(budget, mount + "/memory", path, kVersion1);
    }
  }
}

//===----------------------------------------------------------------------===//
// Limits of the process
//===----------------------------------------------------------------------===//

static void lowerToLimit(MemoryBudget &budget, int resource,
                         const std::string &root, const char *used,
                         const char *limit) {
  rlimit value;
  if (getrlimit(__rlimit_resource_t(resource), &value) != 0 ||
      value.rlim_cur == RLIM_INFINITY || value.rlim_cur > rlim_t(INT64_MAX))
    return;
  int64_t has = findNumber(root + "/proc/self/status", used, 1024).value_or(0);
  lower(budget, int64_t(value.rlim_cur) - has, limit);
}

MemoryBudget weft::machineBudget() {
  MemoryBudget budget;
  lower(budget, int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE),
        "the machine has");
  return budget;
}

MemoryBudget weft::processBudget(const std::string &root) {
  MemoryBudget budget = machineBudget();
  lowerToGroups(budget, root);
  lowerToLimit(budget, RLIMIT_AS, root,
               "VmSize:", "the limit on address space (ulimit -v) leaves");
  lowerToLimit(budget, RLIMIT_DATA, root,
               "VmData:", "the limit on data (ulimit -d) leaves");
  return budget;
}

Status weft::checkMemory(int64_t bytes, const MemoryBudget &budget,
                         int64_t ranks) {
  if (bytes <= budget.bytes / ranks)
    return Status::success();
  const std::string all =
      ranks == 1 ? "" : " for each of " + std::to_string(ranks) + " ranks";
  return memoryError("the program needs ", humanBytes(bytes), all, ", but ",
                     budget.limit, " ", humanBytes(budget.bytes))
      .hint("compile with a smaller --batch or --seq");
}
