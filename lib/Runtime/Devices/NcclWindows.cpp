//===- NcclWindows.cpp - The arena as memory of NCCL ----------------------===//

#include "weft/Runtime/Devices/NcclWindows.h"

using namespace weft;

/// A window has one size on all ranks.
Status NcclWindows::checkRanks(RankMeetings &meetings,
                               const DeviceRanksOptions &options) {
  auto all = meetings.gather(0, options.arenaBytes, "the arenas of the ranks");
  if (!all)
    return all.takeError();
  for (size_t rank = 1; rank < all->size(); ++rank)
    if ((*all)[rank] != all->front())
      refusal = "the arenas have " + std::to_string(all->front()) +
                " bytes in rank 0 and " + std::to_string((*all)[rank]) +
                " in rank " + std::to_string(rank);
  return Status::success();
}

/// NCCL says in three ways that a machine has no windows: ncclInvalidUsage at
/// once, success without a window (2.29 and later), or success with a window
/// that only this rank has (2.28), which nothing tells from a whole one.
Status NcclWindows::add(RankMeetings &meetings, Member member,
                        const DeviceRanksOptions &options) {
  const ncclComm_t comm = member.comm;
  windows.push_back({comm, nullptr});
  Window &window = windows.back();
  const ncclResult_t result = nccl.ncclCommWindowRegister(
      comm, reinterpret_cast<void *>(options.arena), options.arenaBytes,
      &window.handle, NCCL_WIN_COLL_SYMMETRIC);
  const bool refuses =
      result == ncclInvalidUsage || (result == ncclSuccess && !window.handle);
  if (Status s = checkRefusals(meetings, member.group, refuses); !s)
    return s;
  if (result == ncclInvalidUsage) {
    refusal = nccl.failure("ncclCommWindowRegister", result, comm).message();
    windows.pop_back();
    return Status::success();
  }
  if (Status s = settle("ncclCommWindowRegister", result, comm); !s)
    return s;
  if (window.handle)
    return Status::success();
  refusal = "NCCL cannot map the memory of all ranks";
  windows.pop_back();
  return Status::success();
}

/// A registration involves all ranks of a communicator: if one refuses at once,
/// the others would wait for it until the timeout.
Status NcclWindows::checkRefusals(RankMeetings &meetings, int64_t group,
                                  bool refuses) {
  auto place = meetings.placeIn(0);
  if (!place)
    return place.takeError();
  struct Answer {
    int rank;
    bool refuses;
  };
  auto all =
      meetings.gather(group, Answer{place->rank, refuses}, "a window of NCCL");
  if (!all)
    return all.takeError();
  const Answer &first = all->front();
  for (const Answer &each : *all) {
    if (each.refuses == first.refuses)
      continue;
    return Error(ExitCode::Device,
                 "expects NCCL to register the arenas of all ranks, but it "
                 "refuses that of rank " +
                     std::to_string(first.refuses ? first.rank : each.rank) +
                     " and accepts that of rank " +
                     std::to_string(first.refuses ? each.rank : first.rank))
        .hint("give all ranks the same NCCL_ variables, and the same version "
              "of NCCL and of the driver");
  }
  return Status::success();
}

Status NcclWindows::open(RankMeetings &meetings,
                         const DeviceRanksOptions &options,
                         const std::vector<Member> &communicators) {
  copyEngines = options.copyEngines;
  if (communicators.empty())
    refusal = "native reductions add in no window";
  else if (Status s = checkRanks(meetings, options); !s)
    return s;
  if (refusal.empty())
    if (Status s = addAll(meetings, options, communicators); !s)
      return s;
  if (!copyEngines || refusal.empty())
    return Status::success();
  return Error(ExitCode::Device,
               "--gather=ce expects the arena to be a symmetric window, but "
               "got none: " +
                   refusal)
      .hint("--gather=sm gathers by kernels of NCCL");
}

/// NCCL chooses a kernel by the window of this rank: all ranks have one or
/// none.
Status NcclWindows::addAll(RankMeetings &meetings,
                           const DeviceRanksOptions &options,
                           const std::vector<Member> &communicators) {
  for (const Member &member : communicators)
    if (Status s = add(meetings, member, options); !s)
      return s;
  auto all = meetings.gather(0, int(refusal.empty()), "the windows of NCCL");
  if (!all)
    return all.takeError();
  for (size_t rank = 0; rank < all->size(); ++rank)
    if (!(*all)[rank] && refusal.empty())
      refusal = "rank " + std::to_string(rank) + " has no window";
  return refusal.empty() ? Status::success() : close();
}

Status NcclWindows::close() {
  for (const Window &window : windows)
    if (Status s =
            settle("ncclCommWindowDeregister",
                   nccl.ncclCommWindowDeregister(window.comm, window.handle),
                   window.comm);
        !s)
      return s;
  windows.clear();
  return Status::success();
}

Settings NcclWindows::facts() const {
  return {{"gather", copyEngines ? "ce" : "sm"},
          {"window", refusal.empty() ? "registered" : "none: " + refusal}};
}
