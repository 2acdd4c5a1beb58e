//===- NcclInit.cpp - Communicators of the emulated NCCL begin ------------===//

#include "NcclEntry.h"
#include "Settings.h"

#include <algorithm>

using namespace weft::emulation;

//===----------------------------------------------------------------------===//
// Initialization
//===----------------------------------------------------------------------===//

WEFT_EXPORT ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  WEFT_BEGIN(ncclGetUniqueId);
  if (!id)
    return refuse(ncclInvalidArgument, "ncclGetUniqueId: the id is null");
  *id = makeId();
  return ncclSuccess;
}

static bool isUndefined(int value) { return value == NCCL_CONFIG_UNDEF_INT; }

static bool isWithin(int value, int least, int most) {
  return isUndefined(value) || (value >= least && value <= most);
}

static Failure checkConfig(const ncclConfig_t &config) {
  const ncclConfig_t initial = NCCL_CONFIG_INITIALIZER;
  if (config.size != initial.size || config.magic != initial.magic ||
      config.version != initial.version)
    return {ncclInvalidArgument,
            "expects a configuration made by NCCL_CONFIG_INITIALIZER"};
  if (!isWithin(config.blocking, 0, 1))
    return {ncclInvalidArgument, "expects blocking to be 0 or 1, but got " +
                                     std::to_string(config.blocking)};
  if (!isWithin(config.maxCTAs, 1, 64) || !isWithin(config.minCTAs, 1, 64) ||
      (!isUndefined(config.maxCTAs) && config.minCTAs > config.maxCTAs))
    return {ncclInvalidArgument,
            "expects 1 <= minCTAs <= maxCTAs <= 64, but got minCTAs " +
                std::to_string(config.minCTAs) + " and maxCTAs " +
                std::to_string(config.maxCTAs)};
  if (!isWithin(config.cgaClusterSize, 0, 8) ||
      !isWithin(config.splitShare, 0, 1) || !isWithin(config.CTAPolicy, 0, 2))
    return {ncclInvalidArgument, "a configuration out of range"};
  if (config.netName || !isUndefined(config.trafficClass) ||
      !isWithin(config.collnetEnable, 0, 0) ||
      !isUndefined(config.shrinkShare) || !isUndefined(config.nvlsCTAs) ||
      !isUndefined(config.nChannelsPerNetPeer) ||
      !isUndefined(config.nvlinkCentricSched))
    return {ncclInvalidArgument,
            "the emulation does not support this configuration"};
  return {};
}

/// `inherited` is what holds where the configuration says nothing.
static Settled settle(const ncclConfig_t *config, Settled inherited) {
  if (config && !isUndefined(config->maxCTAs))
    inherited.channels = config->maxCTAs;
  inherited.channels = std::clamp(
      static_cast<int>(numberSetting(
          "NCCL_MAX_CTAS", static_cast<uint64_t>(inherited.channels))),
      1, 64);
  if (config && !isUndefined(config->blocking))
    inherited.isBlocking = config->blocking == 1;
  if (config && !isUndefined(config->CTAPolicy))
    inherited.policy = config->CTAPolicy;
  return inherited;
}

static Failure checkInit(const ncclComm_t *comm, int size,
                         const ncclUniqueId &id, int rank,
                         const ncclConfig_t *config) {
  if (!comm)
    return {ncclInvalidArgument, "the communicator's place is null"};
  if (size < 1 || rank < 0 || rank >= size)
    return {ncclInvalidArgument, "expects 0 <= rank < nranks, but got rank " +
                                     std::to_string(rank) + " of " +
                                     std::to_string(size)};
  if (!isId(id))
    return {ncclInvalidArgument, "expects an id of ncclGetUniqueId"};
  return config ? checkConfig(*config) : Failure();
}

/// This rank's identity, without its address.
static Failure introduce(const Communicator &communicator, Hello &hello) {
  hello.rank = communicator.rank;
  hello.size = communicator.size;
  hello.channels = communicator.settled.channels;
  hello.version = static_cast<int32_t>(
      numberSetting("WEFT_EMULATION_NCCL_VERSION", NCCL_VERSION_CODE));
  auto getUuid =
      driverFunction<int (*)(unsigned char *, int)>("cuDeviceGetUuid_v2");
  if (int error = getUuid(hello.uuid, 0))
    return {ncclUnhandledCudaError,
            "cuDeviceGetUuid failed with error " + std::to_string(error)};
  return {};
}

static CommunicatorRef makeCommunicator(int size, int rank,
                                        const ncclConfig_t *config) {
  auto made = std::make_shared<Communicator>();
  made->rank = rank;
  made->size = size;
  made->settled = settle(config, Settled());
  return made;
}

WEFT_EXPORT ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int size,
                                                ncclUniqueId id, int rank,
                                                ncclConfig_t *config) {
  setFirstRank(rank);
  WEFT_BEGIN_ALONE(ncclCommInitRankConfig);
  const std::string name = "ncclCommInitRankConfig: ";
  if (Failure failure = checkInit(comm, size, id, rank, config))
    return refuse(failure.result, name + failure.text);
  *comm = nullptr;
  CommunicatorRef made = makeCommunicator(size, rank, config);
  Hello hello;
  if (Failure failure = introduce(*made, hello))
    return refuse(failure.result, name + failure.text);
  std::shared_ptr<Listener> listener;
  if (rank == 0 && !(listener = takeListener(id)))
    return refuse(ncclInvalidUsage,
                  name + "expects rank 0 in the process that made the id, and "
                         "each id once");
  ncclComm_t handle = addCommunicator(made);
  const bool isBlocking = made->settled.isBlocking;
  if (!isBlocking)
    *comm = handle;
  ncclResult_t result =
      startJob("ncclCommInitRankConfig", made, {}, isBlocking, [=] {
        Failure failure = meet(*made, id, listener.get(), hello);
        return failure ? failure : takeMemory(*made);
      });
  if (result == ncclSuccess)
    *comm = handle;
  return result;
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

namespace {
/// The identity of a rank of the parent.
struct SplitWish {
  int32_t color, key, channels, rank;
  char address[40];
};
} // namespace

/// The ranks of one color, in their new order.
static std::vector<SplitWish> findMembers(const std::vector<std::string> &all,
                                          int color) {
  std::vector<SplitWish> members;
  for (const std::string &payload : all) {
    auto wish = valueOfBytes<SplitWish>(payload);
    if (wish.color == color)
      members.push_back(wish);
  }
  std::sort(members.begin(), members.end(),
            [](const SplitWish &a, const SplitWish &b) {
              return std::make_pair(a.key, a.rank) <
                     std::make_pair(b.key, b.rank);
            });
  return members;
}

/// `child` is null without a color.
static Failure split(Communicator &parent, Communicator *child, int color,
                     int key) {
  Listener listener;
  SplitWish own = {
      color, key, child ? child->settled.channels : 0, parent.rank, {}};
  listener.address().copy(own.address, sizeof(own.address) - 1);
  Stops stops = {parent.stop};
  if (child)
    stops.push_back(child->stop);
  std::vector<std::string> all;
  {
    std::lock_guard<std::mutex> lock(parent.meshMutex);
    if (Failure failure =
            parent.mesh->exchange(stops, Frame::Split, bytesOfValue(own), all))
      return failure;
  }
  if (!child)
    return {};
  std::vector<std::string> addresses;
  for (const SplitWish &member : findMembers(all, color)) {
    if (member.rank == parent.rank)
      child->rank = static_cast<int>(addresses.size());
    addresses.emplace_back(member.address);
    child->settled.channels =
        std::min(child->settled.channels, member.channels);
  }
  child->size = static_cast<int>(addresses.size());
  Failure failure =
      connectRanks(*child, listener, addresses, stops,
                   std::vector<std::unique_ptr<Connection>>(addresses.size()));
  return failure ? failure : takeMemory(*child);
}

WEFT_EXPORT ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key,
                                       ncclComm_t *made, ncclConfig_t *config) {
  const std::string name = "ncclCommSplit: ";
  WEFT_CALL(ncclCommSplit, comm);
  if (ncclResult_t error = refuseInGroupOrCapture("ncclCommSplit"))
    return error;
  CommunicatorRef parent = call.communicator;
  if (!made || (color < 0 && color != NCCL_SPLIT_NOCOLOR))
    return refuse(ncclInvalidArgument,
                  name + (made ? "expects a color from 0 on, but got " +
                                     std::to_string(color)
                               : "the new communicator's place is null"));
  Failure failure = config ? checkConfig(*config) : Failure();
  if (!failure)
    failure = findIssued(*parent);
  if (failure)
    return refuse(failure.result, name + failure.text);
  const Settled settled = settle(config, parent->settled);
  CommunicatorRef child;
  if (color != NCCL_SPLIT_NOCOLOR) {
    child = std::make_shared<Communicator>();
    child->settled = settled;
  }
  ncclComm_t handle = child ? addCommunicator(child) : nullptr;
  *made = settled.isBlocking ? nullptr : handle;
  std::vector<CommunicatorRef> others;
  if (child)
    others.push_back(child);
  ncclResult_t result =
      startJob("ncclCommSplit", parent, others, settled.isBlocking,
               [=] { return split(*parent, child.get(), color, key); });
  if (result == ncclSuccess)
    *made = handle;
  return result;
}
