//===- NcclRun.cpp - Operations of the emulated NCCL at work --------------===//
//
// Ranks exchange what they call before they exchange bytes. All of this happens
// in the thread that does the work of streams, which nothing but ncclCommAbort
// can end.
//
//===----------------------------------------------------------------------===//

#include "LibraryWork.h"
#include "NcclObjects.h"
#include "Settings.h"

#include <cstring>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// Calls of ranks
//===----------------------------------------------------------------------===//

namespace {
/// A call, as its peers see it.
struct Head {
  int32_t kind, type, op, peer;
  uint64_t count, number;
};
} // namespace

static Head headOf(const Operation &operation) {
  return {static_cast<int32_t>(operation.kind),
          operation.type,
          isReduction(operation.kind) ? operation.op : 0,
          operation.kind == Kind::Broadcast ? operation.peer : 0,
          operation.count,
          operation.number};
}

static Operation operationOf(const Head &head) {
  Operation operation;
  operation.kind = static_cast<Kind>(head.kind);
  operation.type = static_cast<ncclDataType_t>(head.type);
  operation.op = static_cast<ncclRedOp_t>(head.op);
  operation.peer = head.peer;
  operation.count = head.count;
  operation.number = head.number;
  return operation;
}

static Failure unequal(int rank, const Operation &own, int peer,
                       const Operation &other) {
  return {ncclInvalidUsage, "rank " + std::to_string(rank) + " calls " +
                                describe(own) + ", but rank " +
                                std::to_string(peer) + " calls " +
                                describe(other)};
}

/// All ranks have to call the same.
static Failure compareCalls(Mesh &mesh, const Stops &stops,
                            const Operation &operation) {
  const std::string own = bytesOfValue(headOf(operation));
  std::vector<std::string> heads;
  if (Failure failure = mesh.exchange(stops, Frame::Collective, own, heads))
    return failure;
  for (int rank = 0; rank < mesh.size(); ++rank) {
    const std::string &other = heads[static_cast<size_t>(rank)];
    if (other != own)
      return unequal(mesh.rank(), operation, rank,
                     operationOf(valueOfBytes<Head>(other)));
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// Which bytes of `from` a rank needs: all of them, or its block.
static const char *blockFor(const Operation &operation, int rank) {
  const bool isByRank =
      operation.kind == Kind::ReduceScatter || operation.kind == Kind::AlltoAll;
  return static_cast<const char *>(operation.from) +
         (isByRank ? operation.bytes() * static_cast<size_t>(rank) : 0);
}

/// Exchanges blocks with all peers and returns the block of each rank. The
/// entry of the own rank is its own block.
static Failure exchangeBlocks(Mesh &mesh, const Stops &stops,
                              const Operation &operation,
                              std::vector<std::string> &blocks) {
  const bool isBroadcast = operation.kind == Kind::Broadcast;
  const bool isRoot = operation.peer == mesh.rank();
  const size_t bytes = operation.bytes();
  if (!isBroadcast || isRoot)
    mesh.forPeers([&](int rank) {
      mesh.peer(rank).post(Frame::Data, blockFor(operation, rank), bytes);
    });
  auto isSender = [&](int rank) {
    return !isBroadcast || rank == operation.peer;
  };
  Failure failure = mesh.wait(stops, [&] {
    bool isDone = true;
    mesh.forPeers([&](int rank) {
      Connection &peer = mesh.peer(rank);
      isDone = isDone && peer.isFlushed() &&
               (!isSender(rank) || peer.data.size() >= bytes);
    });
    return isDone;
  });
  if (failure)
    return failure;
  blocks.resize(static_cast<size_t>(mesh.size()));
  for (int rank = 0; rank < mesh.size(); ++rank) {
    std::string &block = blocks[static_cast<size_t>(rank)];
    if (!isSender(rank))
      continue;
    if (rank == mesh.rank()) {
      block.assign(blockFor(operation, rank), bytes);
      continue;
    }
    block = mesh.peer(rank).data.substr(0, bytes);
    mesh.peer(rank).data.erase(0, bytes);
  }
  return {};
}

/// Writes the result of what has come.
static void combine(const Communicator &communicator,
                    const Operation &operation,
                    const std::vector<std::string> &blocks) {
  auto *to = static_cast<char *>(operation.to);
  const auto own = static_cast<size_t>(communicator.rank);
  const auto size = static_cast<size_t>(communicator.size);
  if (operation.kind == Kind::Broadcast) {
    const std::string &block = blocks[static_cast<size_t>(operation.peer)];
    std::memcpy(to, block.data(), block.size());
    return;
  }
  if (!isReduction(operation.kind)) {
    for (size_t rank = 0; rank < size; ++rank)
      std::memcpy(to + rank * operation.bytes(), blocks[rank].data(),
                  operation.bytes());
    return;
  }
  std::vector<const char *> inputs;
  for (const std::string &block : blocks)
    inputs.push_back(block.data());
  const bool isScattered = operation.kind == Kind::ReduceScatter;
  reduce(operation, communicator.settled.channels, inputs, to,
         isScattered ? own * operation.count : 0, operation.count,
         isScattered ? size * operation.count : operation.count);
}

Failure runCollective(Communicator &communicator, const Operation &operation) {
  Mesh &mesh = *communicator.mesh;
  const Stops stops = {communicator.stop};
  const char *entry = entryOf(operation.kind);
  if (Failure failure = compareCalls(mesh, stops, operation))
    return failure;
  use(operation.from,
      static_cast<int64_t>(
          bytesRead(operation, communicator.rank, communicator.size)),
      /*isWrite=*/false, entry);
  use(operation.to,
      static_cast<int64_t>(bytesWritten(operation, communicator.size)),
      /*isWrite=*/true, entry);
  std::vector<std::string> blocks;
  if (Failure failure = exchangeBlocks(mesh, stops, operation, blocks))
    return failure;
  combine(communicator, operation, blocks);
  return {};
}

//===----------------------------------------------------------------------===//
// Sends and receives
//===----------------------------------------------------------------------===//

namespace {
/// Sends or receives of one peer, in the order of calls.
struct Transfers {
  std::deque<const Operation *> sends, receives;
  bool isMatched = false; // the first receive: the peer's send has come
};
} // namespace

/// Compares a call with the peer's.
static Failure matchFirst(Mesh &mesh, int rank, Frame frame,
                          const Operation &own) {
  const Operation other = operationOf(mesh.peer(rank).takeAs<Head>(frame));
  if (other.count == own.count && other.type == own.type)
    return {};
  return unequal(mesh.rank(), own, rank, other);
}

/// Bytes leave once the peer waits for them: nothing is kept on the way.
static Failure moveTransfers(Mesh &mesh, int rank, Transfers &transfers) {
  Connection &peer = mesh.peer(rank);
  while (!transfers.sends.empty() && peer.has(Frame::Receive)) {
    const Operation &send = *transfers.sends.front();
    if (Failure failure = matchFirst(mesh, rank, Frame::Receive, send))
      return failure;
    peer.post(Frame::Data, send.from, send.bytes());
    transfers.sends.pop_front();
  }
  while (!transfers.receives.empty()) {
    const Operation &receive = *transfers.receives.front();
    if (!transfers.isMatched && !peer.has(Frame::Send))
      break;
    if (!transfers.isMatched)
      if (Failure failure = matchFirst(mesh, rank, Frame::Send, receive))
        return failure;
    transfers.isMatched = true;
    if (peer.data.size() < receive.bytes())
      break;
    std::memcpy(receive.to, peer.data.data(), receive.bytes());
    peer.data.erase(0, receive.bytes());
    transfers.isMatched = false;
    transfers.receives.pop_front();
  }
  return {};
}

/// A peer that does something else than a transfer with this rank.
static Failure findOtherCall(Mesh &mesh, int rank, const Transfers &transfers) {
  if (transfers.sends.empty() && transfers.receives.empty())
    return {};
  for (Frame frame :
       {Frame::Collective, Frame::Split, Frame::Window, Frame::Goodbye})
    if (mesh.peer(rank).has(frame))
      return {ncclInvalidUsage, "rank " + std::to_string(mesh.rank()) +
                                    " sends or receives, but rank " +
                                    std::to_string(rank) + " calls " +
                                    callOf(frame)};
  return {};
}

static void copyToItself(std::deque<const Operation *> sends,
                         std::deque<const Operation *> receives) {
  for (size_t i = 0; i < sends.size(); ++i)
    std::memmove(receives[i]->to, sends[i]->from, sends[i]->bytes());
}

/// Tells all peers of what this rank calls.
static void announce(Mesh &mesh, const std::vector<Operation> &operations,
                     std::vector<Transfers> &all) {
  for (const Operation &operation : operations) {
    const bool isSend = operation.kind == Kind::Send;
    use(isSend ? operation.from : operation.to,
        static_cast<int64_t>(operation.bytes()), !isSend,
        entryOf(operation.kind));
    Transfers &transfers = all[static_cast<size_t>(operation.peer)];
    (isSend ? transfers.sends : transfers.receives).push_back(&operation);
    if (operation.peer != mesh.rank())
      mesh.peer(operation.peer)
          .post(isSend ? Frame::Send : Frame::Receive, headOf(operation));
  }
}

Failure runTransfers(Communicator &communicator,
                     const std::vector<Operation> &operations) {
  Mesh &mesh = *communicator.mesh;
  std::vector<Transfers> all(static_cast<size_t>(mesh.size()));
  announce(mesh, operations, all);
  Transfers &own = all[static_cast<size_t>(mesh.rank())];
  copyToItself(own.sends, own.receives);
  Failure failed;
  Failure failure = mesh.wait({communicator.stop}, [&] {
    bool isDone = true;
    mesh.forPeers([&](int rank) {
      Transfers &transfers = all[static_cast<size_t>(rank)];
      if (!failed)
        failed = moveTransfers(mesh, rank, transfers);
      if (!failed)
        failed = findOtherCall(mesh, rank, transfers);
      isDone = isDone && transfers.sends.empty() &&
               transfers.receives.empty() && mesh.peer(rank).isFlushed();
    });
    return isDone || failed;
  });
  return failure ? failure : failed;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static bool isInWindow(const Communicator &communicator, const void *place,
                       size_t bytes) {
  auto *begin = static_cast<const char *>(place);
  for (const auto &[window, owner] : communicator.windows) {
    auto *first = static_cast<const char *>(window->begin);
    if (window->isSymmetric && begin >= first &&
        begin + bytes <= first + window->bytes)
      return true;
  }
  return false;
}

/// NCCL's condition for copy engines in place of kernels.
static void recordCopyEngines(Communicator &communicator,
                              const Operation &operation) {
  const bool isCopy =
      operation.kind == Kind::AllGather || operation.kind == Kind::AlltoAll;
  std::lock_guard<std::mutex> lock(communicator.mutex);
  if (isCopy && communicator.settled.policy == NCCL_CTA_POLICY_ZERO &&
      isInWindow(communicator, operation.from,
                 bytesRead(operation, communicator.rank, communicator.size)) &&
      isInWindow(communicator, operation.to,
                 bytesWritten(operation, communicator.size)))
    record(std::string("copy engines: ") + entryOf(operation.kind));
}

/// Counts what runs: a rank may launch a graph where another one calls.
static Failure runOne(Communicator &communicator, Operation operation) {
  std::lock_guard<std::mutex> lock(communicator.meshMutex);
  operation.number = ++communicator.numCollectives;
  recordCopyEngines(communicator, operation);
  return runCollective(communicator, operation);
}

static Failure waitForever(const Communicator &communicator) {
  waitForStop({communicator.stop});
  return {ncclInternalError, "the communicator was aborted"};
}

static Failure countRuns(const std::vector<Operation> &operations) {
  for (size_t i = 0; i < operations.size(); ++i)
    if (std::optional<ncclResult_t> error = injectedAsyncError())
      return {*error, std::string("an operation, ") +
                          entryOf(operations[i].kind) + ", fails as asked"};
  return {};
}

/// Collectives in the order of calls, then all transfers at the same time.
static Failure runOperations(Communicator &communicator,
                             const std::vector<Operation> &operations) {
  std::vector<Operation> transfers;
  for (const Operation &operation : operations) {
    if (isEndless(operation.kind))
      return waitForever(communicator);
    if (isTransfer(operation.kind)) {
      transfers.push_back(operation);
      continue;
    }
    if (Failure failure = runOne(communicator, operation))
      return failure;
    if (Failure failure = countRuns({operation}))
      return failure;
  }
  if (transfers.empty())
    return {};
  std::lock_guard<std::mutex> lock(communicator.meshMutex);
  if (Failure failure = runTransfers(communicator, transfers))
    return failure;
  return countRuns(transfers);
}

/// Later work reads results that never came, as it would on a device.
static void markResults(const Communicator &communicator,
                        const std::vector<Operation> &operations) {
  for (const Operation &operation : operations)
    use(operation.to,
        static_cast<int64_t>(bytesWritten(operation, communicator.size)),
        /*isWrite=*/true, entryOf(operation.kind));
}

void runGroup(Communicator &communicator,
              const std::vector<Operation> &operations) {
  bool isUsable;
  {
    std::lock_guard<std::mutex> lock(communicator.mutex);
    isUsable = !communicator.endedBy && !communicator.failure;
    communicator.numRunning += isUsable ? 1 : 0;
  }
  if (!isUsable)
    return markResults(communicator, operations);
  Failure failure = runOperations(communicator, operations);
  if (failure) {
    setFailure(communicator, failure);
    markResults(communicator, operations);
  }
  std::lock_guard<std::mutex> lock(communicator.mutex);
  --communicator.numRunning;
  communicator.changed.notify_all();
}

} // namespace weft::emulation
