//===- NcclWindows.h - The arena as memory of NCCL --------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICES_NCCLWINDOWS_H
#define WEFT_RUNTIME_DEVICES_NCCLWINDOWS_H

#include "weft/Runtime/Devices/DeviceRanks.h"
#include "weft/Runtime/Devices/Nccl.h"

#include <deque>
#include <functional>
#include <vector>

namespace weft {

/// The arena of a rank as a symmetric window of each communicator. Equal plans
/// give a buffer the same offset in all arenas, as NCCL asks of windows.
class NcclWindows {
public:
  /// Waits for a call on a communicator.
  using Settle = std::function<Status(const char *, ncclResult_t, ncclComm_t)>;

  NcclWindows(const NcclLibrary &nccl, Settle settle)
      : nccl(nccl), settle(std::move(settle)) {}

  /// A communicator, and the group of the mesh whose ranks it connects.
  struct Member {
    ncclComm_t comm;
    int64_t group;
  };

  /// Registers the arena with some communicators: all ranks call it, in one
  /// order. A machine where NCCL has no such windows is no error, unless copy
  /// engines gather.
  Status open(RankMeetings &meetings, const DeviceRanksOptions &options,
              const std::vector<Member> &communicators);
  /// Before the communicators are finalized.
  Status close();
  Settings facts() const;

private:
  struct Window {
    ncclComm_t comm;
    ncclWindow_t handle;
  };

  Status checkRanks(RankMeetings &meetings, const DeviceRanksOptions &options);
  Status addAll(RankMeetings &meetings, const DeviceRanksOptions &options,
                const std::vector<Member> &communicators);
  Status add(RankMeetings &meetings, Member member,
             const DeviceRanksOptions &options);
  Status checkRefusals(RankMeetings &meetings, int64_t group, bool refuses);

  const NcclLibrary &nccl;
  const Settle settle;
  std::deque<Window> windows; // NCCL writes handles while it works
  bool copyEngines = false;
  std::string refusal; // why there are none
};

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_NCCLWINDOWS_H
