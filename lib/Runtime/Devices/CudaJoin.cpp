//===- CudaJoin.cpp - Connect the devices of ranks ------------------------===//

#include "weft/Abi/CollectiveRecords.h"
#include "weft/Runtime/Devices/CpuBinding.h"
#include "weft/Runtime/Devices/CudaDevice.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <unistd.h>

using namespace weft;

/// By which the last rank may fail later than the first.
static constexpr double kTogetherSeconds = 3;

namespace {
/// The identity of a rank's device.
struct DeviceName {
  char uuid[16];
  char name[112];
};
} // namespace

DeviceRanksOptions CudaDevice::ranksOptions() const {
  DeviceRanksOptions found;
  found.timeout = options.timeout;
  found.ctas = options.collectiveCtas;
  found.arena = arena.get();
  found.arenaBytes = arena.size();
  found.copyEngines = options.gather == GatherBy::CopyEngines;
  found.addsEverywhere = true;
  for (const WeftReduceScatterRecord *each : reductions())
    if (each->native)
      found.adding.emplace(each->among.group, each->among.stream);
    else
      found.addsEverywhere = false;
  for (const WeftProgram &program : programsOf(executable))
    for (const WeftCommand &command : commandsOf(program))
      if (const WeftRankGroup *group = findRankGroup(command)) {
        found.lastGroup = std::max(found.lastGroup, group->group);
        found.hasReduceStream |= group->stream == kReduceStream;
      }
  return found;
}

/// Before the driver starts threads and allocates memory of the host.
Status CudaDevice::bindCpus() {
  if (!options.ranksAreProcesses || options.ranks == 1)
    return Status::success();
  char busId[32] = {};
  if (Status s = cuda.cuDeviceGetPCIBusId(busId, int(sizeof busId - 1), device);
      !s)
    return s;
  CpuBinding binding = chooseCpus("/sys", busId, allowedCpus());
  bindProcess(binding);
  cpus = binding.describe();
  return Status::success();
}

/// One text if all ranks have the same, otherwise one for each rank.
Status CudaDevice::shareCpus() {
  struct Text {
    char text[1024];
  } own = {};
  cpus.copy(own.text, sizeof own.text - 1);
  auto all = meetings->gather(0, own, "the CPUs of the ranks");
  if (!all)
    return all.takeError();
  std::string each;
  bool isSame = true;
  for (size_t rank = 0; rank < all->size(); ++rank) {
    const std::string text = (*all)[rank].text;
    isSame &= text == all->front().text;
    each += (rank ? "; rank " : "rank ") + std::to_string(rank) + ": " + text;
  }
  cpus = isSame ? all->front().text : each;
  return Status::success();
}

/// Devices of one kind, and no two ranks on one of them.
Status CudaDevice::checkDevices() {
  CUuuid uuid = {};
  if (Status s = cuda.cuDeviceGetUuid_v2(&uuid, device); !s)
    return s;
  DeviceName own = {};
  static_assert(sizeof own.uuid == sizeof uuid.bytes, "expects 16 bytes");
  std::memcpy(own.uuid, uuid.bytes, sizeof own.uuid);
  chip.device.copy(own.name, sizeof own.name - 1);
  auto all = meetings->gather(0, own, "the devices of the ranks");
  if (!all)
    return all.takeError();
  const DeviceName &first = all->front();
  for (size_t rank = 1; rank < all->size(); ++rank) {
    const DeviceName &each = (*all)[rank];
    if (std::strncmp(each.name, first.name, sizeof each.name) != 0)
      return deviceError("expects devices of one kind, but got ", first.name,
                         " in rank 0 and ", each.name, " in rank ", rank);
    for (size_t other = 0; other < rank; ++other)
      if (std::memcmp(each.uuid, (*all)[other].uuid, sizeof each.uuid) == 0)
        return deviceError("expects a device for each rank, but ranks ", other,
                           " and ", rank, " have the same ", each.name)
            .hint("--loopback runs all ranks on one device");
  }
  return Status::success();
}

/// The reductions of all programs.
std::vector<const WeftReduceScatterRecord *> CudaDevice::reductions() const {
  std::vector<const WeftReduceScatterRecord *> found;
  for (const WeftProgram &program : programsOf(executable))
    for (const WeftCommand &command : commandsOf(program))
      if (const auto *record = findReduction(command))
        found.push_back(record);
  return found;
}

/// The machine of this process: one start of its kernel.
static std::string machineName() {
  std::string name;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> name;
  if (!name.empty())
    return name;
  char host[65] = {};
  (void)::gethostname(host, sizeof host - 1);
  return host;
}

/// An ordered reduction sends every piece to its owner: between machines a ring
/// sends less.
Status CudaDevice::warnOfMachines() {
  std::set<int64_t> groups;
  for (const WeftReduceScatterRecord *each : reductions())
    if (!each->native)
      groups.insert(each->among.group);
  auto place = meetings->placeIn(0);
  if (!place)
    return place.takeError();
  struct Machine {
    int32_t rank;
    char name[76];
  } own = {place->rank, {}};
  machineName().copy(own.name, sizeof own.name - 1);
  std::optional<int> elsewhere;
  for (int64_t group : groups) {
    auto all = meetings->gather(group, own, "the machines of the ranks");
    if (!all)
      return all.takeError();
    for (const Machine &each : *all)
      if (!elsewhere && std::strncmp(each.name, own.name, sizeof own.name) != 0)
        elsewhere = each.rank;
  }
  if (elsewhere && place->rank == 0)
    warn("ranks 0 and " + std::to_string(*elsewhere) +
             " are on different machines, but their reductions are ordered",
         "weft compile --reduction=native lets NCCL add between machines");
  return Status::success();
}

/// Copy engines need windows that all ranks map, of a communicator that moves
/// bytes alone.
Status CudaDevice::checkGather(const DeviceRanksOptions &wanted) const {
  if (!wanted.copyEngines)
    return Status::success();
  if (options.ranks != options.ranksOfMachine)
    return deviceError("--gather=ce expects all ranks on one machine, but got ",
                       options.ranksOfMachine, " of ", options.ranks, " there")
        .hint("--gather=sm gathers by kernels of NCCL");
  if (wanted.addsEverywhere && !wanted.adding.empty() &&
      !wanted.hasReduceStream)
    return usageError("--gather=ce expects ordered reductions, or a stream of "
                      "their own, but got native ones in the stream of gathers")
        .hint("--gather=sm, or weft compile --reduction=ordered or "
              "--comm-streams=2");
  return Status::success();
}

Status CudaDevice::connectRanks() {
  const DeviceRanksOptions wanted = ranksOptions();
  if (Status s = checkGather(wanted); !s)
    return s;
  ConnectedDevices connected = connectDevices(cuda, *meetings, wanted);
  if (connected.failure)
    return failTogether(
        *meetings, withoutMemoryForRanks(std::move(connected.failure->error)),
        connected.failure->cause, kTogetherSeconds);
  ranks = std::move(connected.ranks);
  known.insert(known.end(), connected.facts.begin(), connected.facts.end());
  return Status::success();
}

/// Nothing else takes memory after that.
Status CudaDevice::join(std::shared_ptr<RankMeetings> joined) {
  meetings = std::move(joined);
  if (options.ranksAreProcesses)
    if (Status s = joinProcesses(); !s)
      return s;
  return measureMemory(/*isOwn=*/true);
}

Status CudaDevice::joinProcesses() {
  if (Status s = checkDevices(); !s)
    return s;
  if (Status s = shareCpus(); !s)
    return s;
  if (Status s = warnOfMachines(); !s)
    return s;
  if (Status s = connectRanks(); !s)
    return s;
  return assign(DeviceWatch::start(cuda, executable, int(streams.size()),
                                   meetings, *ranks, options.timeout),
                watch);
}
