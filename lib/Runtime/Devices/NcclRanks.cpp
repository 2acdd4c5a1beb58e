//===- NcclRanks.cpp - Communicators of NCCL ------------------------------===//

#include "NcclRanks.h"

#include "weft/Abi/CollectiveRecords.h"
#include "weft/Base/Text.h"
#include "weft/Runtime/Devices/OpenLibrary.h"

#include <chrono>
#include <thread>

using namespace weft;

/// Channels of a communicator that adds, where collectives have no limit: the
/// order of its sums depends on them.
static constexpr int kSumChannels = 16;
static int sumChannels(const DeviceRanksOptions &options) {
  return options.ctas > 0 ? int(options.ctas) : kSumChannels;
}

/// Nonblocking communicators: a call that needs other ranks returns early.
ncclConfig_t NcclRanks::config() const {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (options.ctas > 0)
    config.maxCTAs = int(options.ctas);
  if (!options.adding.empty()) {
    config.collnetEnable = 0; // switches add in an order of their own
    config.minCTAs = config.maxCTAs = sumChannels(options);
  }
  if (options.copyEngines)
    config.CTAPolicy = NCCL_CTA_POLICY_ZERO;
  return config;
}

static FailureCause causeOf(ncclResult_t result) {
  return result == ncclRemoteError ? FailureCause::OtherRank
                                   : FailureCause::Own;
}

/// Waits until a call has succeeded or failed.
Status NcclRanks::settle(const char *call, ncclResult_t result,
                         ncclComm_t comm) const {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds pause(100);
  const auto end = Clock::now() + std::chrono::duration<double>(timeout);
  while (result == ncclInProgress) {
    if (isAborted)
      return communicationError(call, " was aborted");
    const bool isLate = Clock::now() >= end;
    cause = isLate ? FailureCause::Standstill : FailureCause::OtherRank;
    if (!isLate && meetings.hasOneLeft())
      return communicationError(call,
                                " expects all ranks, but one of them has left");
    if (isLate)
      return communicationError(call, " has waited ", numberText(timeout, 4),
                                " s for other ranks")
          .hint("a larger --timeout waits longer");
    std::this_thread::sleep_for(pause);
    if (const ncclResult_t asked = nccl.ncclCommGetAsyncError(comm, &result))
      return nccl.failure("ncclCommGetAsyncError", asked, comm);
  }
  cause = causeOf(result);
  if (result != ncclSuccess)
    return nccl.failure(call, result, comm);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

/// Splits the ranks along an axis off. Keys are the numbers of the ranks in the
/// run, so that a group has the order of its ranks.
Status NcclRanks::addGroup(int64_t group, int worldRank) {
  auto members = meetings.gather(group, worldRank, "a group of NCCL");
  if (!members)
    return members.takeError();
  auto place = meetings.placeIn(group);
  if (!place)
    return place.takeError();
  auto comm = split(members->front(), worldRank);
  if (!comm)
    return comm.takeError();
  groups.push_back({*comm, place->ranks});
  return settle("ncclCommSplit", ncclInProgress, *comm);
}

/// Ranks of one color, split off all. The communicator may be in progress.
Expected<ncclComm_t> NcclRanks::split(int color, int key) {
  ncclConfig_t wanted = config();
  ncclComm_t comm = nullptr;
  const ncclComm_t all = groups.front().comm;
  const ncclResult_t result =
      nccl.ncclCommSplit(all, color, key, &comm, &wanted);
  if (Status s = settle("ncclCommSplit", result, all); !s)
    return s.takeError();
  return comm;
}

/// Splits the ranks of a group off a second time.
Status NcclRanks::addReductions(int64_t group, int worldRank) {
  auto members = meetings.gather(group, worldRank, "a group of NCCL");
  if (!members)
    return members.takeError();
  auto comm = split(members->front(), worldRank);
  if (!comm)
    return comm.takeError();
  groups[size_t(group)].reductions = *comm;
  return settle("ncclCommSplit", ncclInProgress, *comm);
}

/// NCCL has other kernels for sums in windows, which add in another order: the
/// communicators of sums have none.
Status NcclRanks::openWindows() {
  std::set<ncclComm_t> adding;
  for (auto [group, stream] : options.adding)
    adding.insert(commOf({group, 0, stream}));
  std::vector<NcclWindows::Member> communicators;
  for (size_t group = 0; group < groups.size(); ++group)
    for (ncclComm_t comm : {groups[group].comm, groups[group].reductions})
      if (comm && groups[group].ranks > 1 && adding.count(comm) == 0)
        communicators.push_back({comm, int64_t(group)});
  return windows.open(meetings, options, communicators);
}

/// The id that rank 0 makes, or why it cannot.
Expected<ncclUniqueId> NcclRanks::shareId(int rank) {
  struct Id {
    ncclUniqueId id;
    bool isMissing;
    char text[200];
  } own = {};
  const ncclResult_t result =
      rank == 0 ? nccl.ncclGetUniqueId(&own.id) : ncclSuccess;
  if (result != ncclSuccess) {
    own.isMissing = true;
    nccl.failure("ncclGetUniqueId", result, nullptr)
        .message()
        .copy(own.text, sizeof own.text - 1);
  }
  auto all = meetings.gather(0, own, "the id of NCCL");
  if (!all)
    return all.takeError();
  cause = rank == 0 ? FailureCause::Own : FailureCause::OtherRank;
  if (all->front().isMissing)
    return communicationError(all->front().text);
  return all->front().id;
}

Status NcclRanks::connect() {
  auto place = meetings.placeIn(0);
  if (!place)
    return place.takeError();
  auto id = shareId(place->rank);
  if (!id)
    return id.takeError();
  if (Status s = assign(makeEvent(cuda), lastDone); !s)
    return s;
  ncclConfig_t wanted = config();
  ncclComm_t comm = nullptr;
  const ncclResult_t result = nccl.ncclCommInitRankConfig(
      &comm, place->ranks, *id, place->rank, &wanted);
  groups.push_back({comm, place->ranks});
  if (Status s = settle("ncclCommInitRankConfig", result, comm); !s)
    return s;
  for (int64_t group = 1; group <= options.lastGroup; ++group)
    if (Status s = addGroup(group, place->rank); !s)
      return s;
  for (int64_t group = 0; options.hasReduceStream && group <= options.lastGroup;
       ++group)
    if (Status s = addReductions(group, place->rank); !s)
      return s;
  return openWindows();
}

Settings NcclRanks::facts() const {
  Settings facts = windows.facts();
  facts.emplace_back("reductions", options.adding.empty() ? "ordered"
                                   : options.addsEverywhere
                                       ? "native"
                                       : "native between replicas");
  return facts;
}

std::vector<ncclComm_t> NcclRanks::comms() const {
  std::vector<ncclComm_t> all;
  for (const Group &group : groups)
    for (ncclComm_t comm : {group.comm, group.reductions})
      if (comm)
        all.push_back(comm);
  return all;
}

/// No exchange is in flight: the device has been waited for. After a failed
/// exchange the communicators are aborted, since other ranks may be gone.
NcclRanks::~NcclRanks() {
  bool isWhole = !hasFailed;
  if (isWhole && !isAborted)
    isWhole = bool(windows.close());
  for (ncclComm_t comm : comms())
    if (isWhole && !isAborted)
      isWhole =
          bool(settle("ncclCommFinalize", nccl.ncclCommFinalize(comm), comm));
  if (!isWhole)
    abort();
  for (ncclComm_t comm : comms())
    if (!isAborted)
      nccl.ncclCommDestroy(comm);
}

void NcclRanks::abort() {
  if (isAborted.exchange(true))
    return;
  for (ncclComm_t comm : comms())
    nccl.ncclCommAbort(comm);
}

std::optional<DeviceRanks::Failure> NcclRanks::findFailure() {
  for (ncclComm_t comm : comms()) {
    if (isAborted)
      return std::nullopt;
    ncclResult_t result = ncclSuccess;
    ncclResult_t asked = nccl.ncclCommGetAsyncError(comm, &result);
    if (asked == ncclSuccess)
      asked = result;
    if (asked != ncclSuccess && asked != ncclInProgress)
      return Failure{nccl.failure("a collective of NCCL", asked, comm),
                     causeOf(asked)};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// How a device gets them
//===----------------------------------------------------------------------===//

DeviceRanks::~DeviceRanks() = default;

std::vector<LibraryName> weft::deviceRankLibraries() {
  return {NcclLibrary::library()};
}

ConnectedDevices weft::connectDevices(const CudaCalls &cuda,
                                      RankMeetings &meetings,
                                      const DeviceRanksOptions &options) {
  auto fail = [](Error error, FailureCause cause) -> ConnectedDevices {
    return {nullptr, {{std::move(error), cause}}, {}};
  };
  auto place = meetings.placeIn(0);
  if (!place)
    return fail(place.takeError(), FailureCause::Own);
  const bool warns = place->rank == 0;
  removeNcclCtaPolicy(warns);
  if (!options.adding.empty())
    fixNcclVariables(sumChannels(options), warns);
  auto library = NcclLibrary::open();
  if (!library)
    return fail(library.takeError(), FailureCause::Own);
  Settings facts;
  if (!options.adding.empty()) {
    facts = ncclFacts(*library);
    if (Status s = compareNcclFacts(meetings, facts, warns); !s)
      return fail(s.takeError(), FailureCause::OtherRank);
  }
  auto ranks = std::make_unique<NcclRanks>(cuda, meetings, *library, options);
  if (Status connected = ranks->connect(); !connected) {
    ranks->abort();
    return fail(connected.takeError(), ranks->lastCause());
  }
  return {std::move(ranks), std::nullopt, facts};
}

//===- Exchanges ----------------------------------------------------------===//

/// Two collectives of one rank that are at work at once may wait for each other
/// on two ranks: each waits for the one before.
Status NcclRanks::waitForLast(CUstream stream) {
  if (!lastStream || *lastStream == stream)
    return Status::success();
  if (Status s = cuda.cuEventRecord(lastDone.get(), *lastStream); !s)
    return s;
  return cuda.cuStreamWaitEvent(stream, lastDone.get(), 0u);
}

Status NcclRanks::inOrder(CUstream stream,
                          const std::function<Status()> &give) {
  if (isAborted)
    return communicationError("the ranks have parted");
  lastStream = stream;
  Status given = give();
  hasFailed |= !given;
  return given;
}

Status NcclRanks::exchange(const DeviceExchange &wanted, CUstream stream) {
  return inOrder(stream, [&] { return move(wanted, stream); });
}

Status NcclRanks::reduce(const DeviceReduction &wanted, CUstream stream) {
  return inOrder(stream, [&] { return sum(wanted, stream); });
}

/// Of a mesh of one axis both groups are all ranks.
ncclComm_t NcclRanks::commOf(const WeftRankGroup &among) const {
  const Group &group = groups[groups.size() == 1 ? 0 : size_t(among.group)];
  const bool isReduction = group.reductions && among.stream == kReduceStream;
  return isReduction ? group.reductions : group.comm;
}

Status NcclRanks::move(const DeviceExchange &wanted, CUstream stream) {
  const ncclComm_t comm = commOf(wanted.among);
  const size_t bytes = size_t(wanted.bytes);
  if (bytes == 0)
    return Status::success();
  if (wanted.stride == 0)
    return settle("ncclAllGather",
                  nccl.ncclAllGather(wanted.send, wanted.receive, bytes,
                                     ncclInt8, comm, stream),
                  comm);
  if (wanted.stride != wanted.bytes)
    return internalError(
        "expects pieces that follow each other, but got a stride of ",
        wanted.stride);
  return settle("ncclAlltoAll",
                nccl.ncclAlltoAll(wanted.send, wanted.receive, bytes, ncclInt8,
                                  comm, stream),
                comm);
}

static std::optional<ncclDataType_t> typeOf(int32_t dtype) {
  switch (dtype) {
  case WEFT_F32:
    return ncclFloat32;
  case WEFT_F64:
    return ncclFloat64;
  case WEFT_F16:
    return ncclFloat16;
  case WEFT_BF16:
    return ncclBfloat16;
  default:
    return std::nullopt;
  }
}

Status NcclRanks::sum(const DeviceReduction &wanted, CUstream stream) {
  const std::optional<ncclDataType_t> type = typeOf(wanted.dtype);
  if (!type)
    return internalError("expects a floating-point type, but got dtype ",
                         wanted.dtype);
  if (wanted.elements == 0)
    return Status::success();
  const ncclComm_t comm = commOf(wanted.among);
  return settle("ncclReduceScatter",
                nccl.ncclReduceScatter(wanted.send, wanted.receive,
                                       size_t(wanted.elements), *type, ncclSum,
                                       comm, stream),
                comm);
}
