//===- NcclRanks.h - Bytes between devices through NCCL ---------*- C++ -*-===//
//
// All ranks have one communicator, and those along each axis of a mesh another,
// which is split off it. The sums of ordered reductions are not NCCL's: pieces
// are exchanged, and kernels add them in the order of ranks, so that bits equal
// ranks on one device. Those of native ones depend on the ring alone
// (config(), Nccl.cpp).
//
// Where reductions have a stream of their own, each group has a second
// communicator for them. Collectives of two communicators at once would need
// the same order on the multiprocessors of all ranks, which nobody promises: an
// edge from each to the next keeps them apart
// (docs/decisions/0073-collectives-in-turn.md).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_RUNTIME_DEVICES_NCCLRANKS_H
#define WEFT_LIB_RUNTIME_DEVICES_NCCLRANKS_H

#include "weft/Runtime/Devices/DeviceRanks.h"
#include "weft/Runtime/Devices/Launch.h"
#include "weft/Runtime/Devices/Nccl.h"

#include <atomic>
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

class NcclRanks final : public DeviceRanks {
public:
  NcclRanks(const CudaCalls &cuda, RankMeetings &meetings, NcclLibrary library,
            const DeviceRanksOptions &options)
      : cuda(cuda), meetings(meetings), nccl(library), options(options),
        timeout(options.timeout),
        windows(nccl,
                [this](const char *call, ncclResult_t result, ncclComm_t comm) {
                  return settle(call, result, comm);
                }) {}
  ~NcclRanks() override;

  Status connect();
  /// Why connect() has failed.
  FailureCause lastCause() const { return cause; }

  Status waitForLast(CUstream stream) override;
  Status exchange(const DeviceExchange &wanted, CUstream stream) override;
  Status reduce(const DeviceReduction &wanted, CUstream stream) override;
  void forgetOrder() override { lastStream.reset(); }
  std::optional<Failure> findFailure() override;
  void abort() override;
  Settings facts() const override;

private:
  struct Group {
    ncclComm_t comm;
    int ranks;
    ncclComm_t reductions = nullptr; // of a stream of their own
  };

  Status settle(const char *call, ncclResult_t result, ncclComm_t comm) const;
  Expected<ncclUniqueId> shareId(int rank);
  ncclConfig_t config() const;
  Expected<ncclComm_t> split(int color, int key);
  Status addGroup(int64_t group, int worldRank);
  Status addReductions(int64_t group, int worldRank);
  /// All communicators that are made.
  std::vector<ncclComm_t> comms() const;
  Status openWindows();
  ncclComm_t commOf(const WeftRankGroup &among) const;
  Status move(const DeviceExchange &wanted, CUstream stream);
  Status sum(const DeviceReduction &wanted, CUstream stream);
  Status inOrder(CUstream stream, const std::function<Status()> &give);

  CudaCalls cuda;
  RankMeetings &meetings;
  const NcclLibrary nccl;
  const DeviceRanksOptions options;
  const double timeout;
  NcclWindows windows;
  std::vector<Group> groups; // by number; of a mesh of one axis there is one
  CudaEvent lastDone;        // the exchange that was given last
  std::optional<CUstream> lastStream;
  bool hasFailed = false;
  mutable FailureCause cause = FailureCause::Own;
  std::atomic<bool> isAborted{false};
};

} // namespace weft

#endif // WEFT_LIB_RUNTIME_DEVICES_NCCLRANKS_H
