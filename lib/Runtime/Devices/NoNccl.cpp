//===- NoNccl.cpp - Builds without NCCL -----------------------------------===//

#include "weft/Runtime/Devices/DeviceRanks.h"
#include "weft/Runtime/Devices/OpenLibrary.h"

using namespace weft;

DeviceRanks::~DeviceRanks() = default;

std::vector<LibraryName> weft::deviceRankLibraries() { return {}; }

ConnectedDevices weft::connectDevices(const CudaCalls &, RankMeetings &,
                                      const DeviceRanksOptions &) {
  return {nullptr,
          {{deviceError("expects a weft with NCCL for ranks that are "
                        "processes, but this one was built without nccl.h")
                .hint("--loopback runs all ranks on one device"),
            FailureCause::Own}},
          {}};
}
