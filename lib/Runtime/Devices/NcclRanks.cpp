//===- NcclRanks.cpp - Bytes between devices through NCCL -----------------===//
//
// All ranks have one communicator, and those along each axis of a mesh another,
// which is split off it. The sums of ordered reductions are not NCCL's: pieces
// are exchanged, and kernels add them in the order of ranks, so that bits equal
// ranks on one device. Those of native ones depend on the ring alone
// (config(), NcclVariables.cpp).
//
//===----------------------------------------------------------------------===//

#include "NcclVariables.h"

#include "weft/Formats/Text.h"
#include "weft/Runtime/Devices/DeviceRanks.h"
#include "weft/Runtime/Devices/Launch.h"
#include "weft/Runtime/Devices/Nccl.h"
#include "weft/Runtime/Devices/NcclWindows.h"
#include "weft/Runtime/Devices/OpenLibrary.h"
#include "weft/Runtime/Execute/Collectives.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

using namespace weft;

namespace {

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

  Status exchange(const DeviceExchange &wanted, CUstream stream) override;
  Status reduce(const DeviceReduction &wanted, CUstream stream) override;
  void forgetOrder() override { lastStream.reset(); }
  std::optional<Failure> findFailure() override;
  void abort() override;
  Settings facts() const override { return windows.facts(); }

private:
  struct Group {
    ncclComm_t comm;
    int rank, ranks;
  };

  Status settle(const char *call, ncclResult_t result, ncclComm_t comm) const;
  Expected<ncclUniqueId> shareId(int rank);
  ncclConfig_t config() const;
  Status addGroup(int64_t group, int worldRank);
  ncclComm_t commOf(const WeftRankGroup &among) const;
  Status move(const DeviceExchange &wanted, CUstream stream);
  Status sum(const DeviceReduction &wanted, CUstream stream);
  Status inOrder(CUstream stream, const std::function<Status()> &give);
  Status openWindows();
  Status orderAfterLast(CUstream stream);

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

} // namespace

/// Channels of a communicator that adds: the order of its sums depends on them.
static constexpr int kSumChannels = 16;

/// Nonblocking communicators: a call that needs other ranks returns early.
ncclConfig_t NcclRanks::config() const {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (options.ctas > 0)
    config.maxCTAs = int(options.ctas);
  if (options.reduces) {
    config.collnetEnable = 0; // switches add in an order of their own
    config.minCTAs = config.maxCTAs = kSumChannels;
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
      return Error(ExitCode::Communication,
                   std::string(call) + " was given up");
    const bool isLate = Clock::now() >= end;
    cause = isLate ? FailureCause::Standstill : FailureCause::OtherRank;
    if (!isLate && meetings.hasOneLeft())
      return Error(ExitCode::Communication,
                   std::string(call) +
                       " expects all ranks, but one of them has left");
    if (isLate)
      return Error(ExitCode::Communication, std::string(call) + " has waited " +
                                                numberText(timeout, 4) +
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
  ncclConfig_t wanted = config();
  ncclComm_t comm = nullptr;
  const ncclComm_t all = groups.front().comm;
  const ncclResult_t result =
      nccl.ncclCommSplit(all, members->front(), worldRank, &comm, &wanted);
  if (Status s = settle("ncclCommSplit", result, all); !s)
    return s;
  groups.push_back({comm, place->rank, place->ranks});
  return settle("ncclCommSplit", ncclInProgress, comm);
}

Status NcclRanks::openWindows() {
  std::vector<ncclComm_t> communicators;
  for (const Group &group : groups)
    if (group.ranks > 1)
      communicators.push_back(group.comm);
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
    return Error(ExitCode::Communication, all->front().text);
  return all->front().id;
}

Status NcclRanks::connect() {
  auto place = meetings.placeIn(0);
  if (!place)
    return place.takeError();
  auto id = shareId(place->rank);
  if (!id)
    return id.takeError();
  auto done = makeEvent(cuda);
  if (!done)
    return done.takeError();
  lastDone = std::move(*done);
  ncclConfig_t wanted = config();
  ncclComm_t comm = nullptr;
  const ncclResult_t result = nccl.ncclCommInitRankConfig(
      &comm, place->ranks, *id, place->rank, &wanted);
  groups.push_back({comm, place->rank, place->ranks});
  if (Status s = settle("ncclCommInitRankConfig", result, comm); !s)
    return s;
  for (int64_t group = 1; group <= options.lastGroup; ++group)
    if (Status s = addGroup(group, place->rank); !s)
      return s;
  return openWindows();
}

/// No exchange is in flight: the device has been waited for. After a failed
/// exchange the communicators are aborted, since other ranks may be gone.
NcclRanks::~NcclRanks() {
  bool isWhole = !hasFailed;
  if (isWhole && !isAborted)
    isWhole = bool(windows.close());
  for (const Group &group : groups)
    if (isWhole && !isAborted)
      isWhole = bool(settle("ncclCommFinalize",
                            nccl.ncclCommFinalize(group.comm), group.comm));
  if (!isWhole)
    abort();
  for (const Group &group : groups)
    if (!isAborted)
      nccl.ncclCommDestroy(group.comm);
}

void NcclRanks::abort() {
  if (isAborted.exchange(true))
    return;
  for (const Group &group : groups)
    if (group.comm)
      nccl.ncclCommAbort(group.comm);
}

std::optional<DeviceRanks::Failure> NcclRanks::findFailure() {
  for (const Group &group : groups) {
    if (isAborted)
      return std::nullopt;
    ncclResult_t result = ncclSuccess;
    ncclResult_t asked = nccl.ncclCommGetAsyncError(group.comm, &result);
    if (asked == ncclSuccess)
      asked = result;
    if (asked != ncclSuccess && asked != ncclInProgress)
      return Failure{nccl.failure("a collective of NCCL", asked, group.comm),
                     causeOf(asked)};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Exchange
//===----------------------------------------------------------------------===//

/// Two collectives of one rank that are at work at once may wait for each other
/// on two ranks: each waits for the one before.
Status NcclRanks::orderAfterLast(CUstream stream) {
  if (!lastStream || *lastStream == stream)
    return Status::success();
  if (Status s = cuda.cuEventRecord(lastDone.get(), *lastStream); !s)
    return s;
  return cuda.cuStreamWaitEvent(stream, lastDone.get(), 0u);
}

Status NcclRanks::inOrder(CUstream stream,
                          const std::function<Status()> &give) {
  if (isAborted)
    return Error(ExitCode::Communication, "the ranks have parted");
  Status given = orderAfterLast(stream);
  lastStream = stream;
  if (given)
    given = give();
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
  return groups[groups.size() == 1 ? 0 : size_t(among.group)].comm;
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
    return Error(ExitCode::Internal,
                 "expects pieces that follow each other, but got a stride of " +
                     std::to_string(wanted.stride));
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
    return Error(ExitCode::Internal,
                 "expects a floating-point type, but got dtype " +
                     std::to_string(wanted.dtype));
  if (wanted.elements == 0)
    return Status::success();
  const ncclComm_t comm = commOf(wanted.among);
  return settle("ncclReduceScatter",
                nccl.ncclReduceScatter(wanted.send, wanted.receive,
                                       size_t(wanted.elements), *type, ncclSum,
                                       comm, stream),
                comm);
}

//===----------------------------------------------------------------------===//
// Of the device
//===----------------------------------------------------------------------===//

DeviceRanks::~DeviceRanks() = default;

std::vector<LibraryName> weft::deviceRankLibraries() {
  return {NcclLibrary::library()};
}

static Settings factsOf(const NcclLibrary &library) {
  Settings facts = {{"nccl", ncclVersionText(library.version)}};
  for (auto &variable : recordedNcclVariables())
    facts.push_back(std::move(variable));
  return facts;
}

ConnectedDevices weft::connectDevices(const CudaCalls &cuda,
                                      RankMeetings &meetings,
                                      const DeviceRanksOptions &options) {
  auto fail = [](Error error, FailureCause cause) -> ConnectedDevices {
    return {nullptr, {{std::move(error), cause}}, {}};
  };
  if (options.reduces) {
    auto place = meetings.placeIn(0);
    if (!place)
      return fail(place.takeError(), FailureCause::Own);
    fixNcclVariables(/*speaks=*/place->rank == 0);
  }
  auto library = NcclLibrary::open();
  if (!library)
    return fail(library.takeError(), FailureCause::Own);
  auto ranks = std::make_unique<NcclRanks>(cuda, meetings, *library, options);
  if (Status connected = ranks->connect(); !connected) {
    ranks->abort();
    return fail(connected.takeError(), ranks->lastCause());
  }
  return {std::move(ranks), std::nullopt,
          options.reduces ? factsOf(*library) : Settings()};
}
