//===- CudaJoin.cpp - How the devices of ranks come together --------------===//

#include "weft/Runtime/Devices/CudaDevice.h"
#include "weft/Runtime/Execute/Collectives.h"

#include <algorithm>
#include <cstring>

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

int64_t CudaDevice::lastGroup() const {
  int64_t last = 0;
  for (int32_t p = 0; p < executable.numPrograms; ++p) {
    const WeftProgram &program = executable.programs[p];
    for (int32_t i = 0; i < program.numCommands; ++i)
      if (const WeftRankGroup *group = findRankGroup(program.commands[i]))
        last = std::max(last, group->group);
  }
  return last;
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
      return Error(ExitCode::Device, "expects devices of one kind, but got " +
                                         std::string(first.name) +
                                         " in rank 0 and " + each.name +
                                         " in rank " + std::to_string(rank));
    for (size_t other = 0; other < rank; ++other)
      if (std::memcmp(each.uuid, (*all)[other].uuid, sizeof each.uuid) == 0)
        return Error(ExitCode::Device,
                     "expects a device for each rank, but ranks " +
                         std::to_string(other) + " and " +
                         std::to_string(rank) + " have the same " + each.name)
            .hint("--loopback runs all ranks on one device");
  }
  return Status::success();
}

Status CudaDevice::connectRanks() {
  ConnectedDevices connected =
      connectDevices(cuda, *meetings, {lastGroup(), options.timeout});
  if (connected.failure)
    return failTogether(*meetings, std::move(connected.failure->error),
                        connected.failure->cause, kTogetherSeconds);
  ranks = std::move(connected.ranks);
  return Status::success();
}

Status CudaDevice::join(std::shared_ptr<RankMeetings> joined) {
  meetings = std::move(joined);
  if (!options.ranksAreProcesses)
    return Status::success();
  if (Status s = checkDevices(); !s)
    return s;
  if (Status s = connectRanks(); !s)
    return s;
  auto watching = DeviceWatch::start(cuda, executable, int(streams.size()),
                                     meetings, *ranks, options.timeout);
  if (!watching)
    return watching.takeError();
  watch = std::move(*watching);
  return Status::success();
}
