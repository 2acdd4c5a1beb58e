//===- NcclCollectives.cpp - Calls that communicate -----------------------===//
//
// A call belongs to a group: to the one that is open in its thread, or to one
// of its own. The end of a group gives one piece of work for each communicator
// to the stream.
//
//===----------------------------------------------------------------------===//

#include "LibraryWork.h"
#include "NcclEntry.h"

#include <algorithm>

using namespace weft::emulation;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {
/// The calls of a group with one communicator.
struct Part {
  CommunicatorRef communicator;
  cudaStream_t stream;
  std::vector<Operation> operations;
};

struct Group {
  int depth = 0;
  std::vector<Part> parts;
  ncclResult_t error = ncclSuccess;
  std::string text;
};
} // namespace

static thread_local Group openGroup;

bool weft::emulation::isInGroup() { return openGroup.depth != 0; }

/// A call of a group that fails makes the group fail.
static ncclResult_t failInGroup(ncclResult_t error) {
  if (isInGroup() && !openGroup.error) {
    openGroup.error = error;
    openGroup.text = lastText();
  }
  return error;
}

static Failure addToGroup(const CommunicatorRef &communicator,
                          cudaStream_t stream, const Operation &operation) {
  for (Part &part : openGroup.parts) {
    if (part.communicator != communicator)
      continue;
    if (part.stream != stream)
      return {ncclInvalidUsage, "the emulation supports one stream for the "
                                "calls of a group with one communicator"};
    part.operations.push_back(operation);
    return {};
  }
  hold(*communicator);
  openGroup.parts.push_back({communicator, stream, {operation}});
  return {};
}

/// A rank sends to itself as much as it receives, in one group.
static Failure checkOwnTransfers(const Part &part) {
  std::vector<Operation> sends, receives;
  for (const Operation &operation : part.operations)
    if (isTransfer(operation.kind) && operation.peer == part.communicator->rank)
      (operation.kind == Kind::Send ? sends : receives).push_back(operation);
  const bool isSame = std::equal(
      sends.begin(), sends.end(), receives.begin(), receives.end(),
      [](const Operation &send, const Operation &receive) {
        return send.count == receive.count && send.type == receive.type;
      });
  if (isSame)
    return {};
  return {ncclInvalidUsage, "a rank sends to itself something else than it "
                            "receives from itself in the same group"};
}

/// Gives the work to its stream.
static ncclResult_t issue(Part &part) {
  Communicator &communicator = *part.communicator;
  auto isCapturing =
      driverFunction<int (*)(cudaStream_t)>("weft_emulation_is_capturing");
  const bool isCaptured = isCapturing(part.stream) == 1;
  if (communicator.size > 1)
    driverFunction<void (*)()>("weft_emulation_do_only_needed")();
  {
    std::lock_guard<std::mutex> lock(communicator.mutex);
    communicator.numIssued += isCaptured ? 0 : 1;
  }
  auto work = [communicator = part.communicator, operations = part.operations,
               isCaptured] {
    runGroup(*communicator, operations);
    std::lock_guard<std::mutex> lock(communicator->mutex);
    communicator->numIssued -= isCaptured ? 0 : 1;
  };
  if (!enqueue(part.stream, work))
    return refuse(ncclUnhandledCudaError, "the stream takes no work");
  // As the real library, which connects ranks when they first communicate.
  std::lock_guard<std::mutex> lock(communicator.mutex);
  const bool isFirst = !communicator.hasIssued;
  communicator.hasIssued = true;
  if (!isFirst || communicator.settled.isBlocking)
    return ncclSuccess;
  communicator.isUnseen = true;
  return ncclInProgress;
}

static ncclResult_t issueAll(std::vector<Part> &parts) {
  for (const Part &part : parts)
    if (Failure failure = checkOwnTransfers(part))
      return refuse(failure.result, "ncclGroupEnd: " + failure.text);
  ncclResult_t result = ncclSuccess;
  for (Part &part : parts) {
    ncclResult_t one = issue(part);
    if (one && one != ncclInProgress)
      return one;
    result = one ? one : result;
  }
  return result;
}

WEFT_EXPORT ncclResult_t ncclGroupStart() {
  WEFT_BEGIN(ncclGroupStart);
  ++openGroup.depth;
  return ncclSuccess;
}

WEFT_EXPORT ncclResult_t ncclGroupEnd() {
  if (!isInGroup())
    return refuse(ncclInvalidUsage,
                  "ncclGroupEnd: expects a group that ncclGroupStart opened");
  if (std::optional<ncclResult_t> fault = injectedFault("ncclGroupEnd"))
    failInGroup(*fault);
  if (--openGroup.depth > 0)
    return ncclSuccess;
  Group group = std::move(openGroup);
  openGroup = Group();
  ncclResult_t result = group.error
                            ? refuse(group.error, "ncclGroupEnd: " + group.text)
                            : issueAll(group.parts);
  for (const Part &part : group.parts)
    release(*part.communicator);
  return result;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static Failure checkCall(const Communicator &communicator,
                         const Operation &operation, cudaStream_t stream) {
  if (Failure failure = checkOperation(communicator, operation))
    return failure;
  auto isCapturing =
      driverFunction<int (*)(cudaStream_t)>("weft_emulation_is_capturing");
  if (isCapturing(stream) < 0)
    return {ncclInvalidArgument, "expects a stream, but got something else"};
  if (isTransfer(operation.kind) && operation.peer == communicator.rank &&
      !isInGroup())
    return {ncclInvalidUsage, "a rank sends to itself in a group only"};
  return {};
}

static ncclResult_t communicate(const Operation &operation, ncclComm_t comm,
                                cudaStream_t stream) {
  const char *entry = entryOf(operation.kind);
  Call call(entry, comm);
  if (call.error)
    return failInGroup(call.error);
  Failure failure = checkCall(*call.communicator, operation, stream);
  if (!failure && operation.count != 0 && isInGroup())
    failure = addToGroup(call.communicator, stream, operation);
  if (failure)
    return failInGroup(
        refuse(failure.result, std::string(entry) + ": " + failure.text));
  if (operation.count == 0 || isInGroup())
    return ncclSuccess;
  Part part = {call.communicator, stream, {operation}};
  return issue(part);
}

WEFT_EXPORT ncclResult_t ncclAllGather(const void *from, void *to, size_t count,
                                       ncclDataType_t type, ncclComm_t comm,
                                       cudaStream_t stream) {
  return communicate({Kind::AllGather, from, to, count, type}, comm, stream);
}

WEFT_EXPORT ncclResult_t ncclReduceScatter(const void *from, void *to,
                                           size_t count, ncclDataType_t type,
                                           ncclRedOp_t op, ncclComm_t comm,
                                           cudaStream_t stream) {
  return communicate({Kind::ReduceScatter, from, to, count, type, op}, comm,
                     stream);
}

WEFT_EXPORT ncclResult_t ncclAllReduce(const void *from, void *to, size_t count,
                                       ncclDataType_t type, ncclRedOp_t op,
                                       ncclComm_t comm, cudaStream_t stream) {
  return communicate({Kind::AllReduce, from, to, count, type, op}, comm,
                     stream);
}

WEFT_EXPORT ncclResult_t ncclAlltoAll(const void *from, void *to, size_t count,
                                      ncclDataType_t type, ncclComm_t comm,
                                      cudaStream_t stream) {
  return communicate({Kind::AlltoAll, from, to, count, type}, comm, stream);
}

WEFT_EXPORT ncclResult_t ncclBroadcast(const void *from, void *to, size_t count,
                                       ncclDataType_t type, int root,
                                       ncclComm_t comm, cudaStream_t stream) {
  return communicate({Kind::Broadcast, from, to, count, type, ncclSum, root},
                     comm, stream);
}

WEFT_EXPORT ncclResult_t ncclSend(const void *from, size_t count,
                                  ncclDataType_t type, int peer,
                                  ncclComm_t comm, cudaStream_t stream) {
  return communicate({Kind::Send, from, nullptr, count, type, ncclSum, peer},
                     comm, stream);
}

WEFT_EXPORT ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type,
                                  int peer, ncclComm_t comm,
                                  cudaStream_t stream) {
  return communicate({Kind::Receive, nullptr, to, count, type, ncclSum, peer},
                     comm, stream);
}
