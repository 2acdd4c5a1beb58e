//===- NcclEntry.cpp - NCCL of the emulated device ------------------------===//
//
// A libnccl.so.2 whose ranks are processes of one machine, which exchange bytes
// by Unix sockets when the emulated driver does the work of their streams. It
// refuses the calls that NCCL refuses. Features that weft does not use are
// errors, not approximations. Its environment:
//   WEFT_EMULATION_NCCL_FAIL     calls and operations that fail: NcclFaults.cpp
//   WEFT_EMULATION_NCCL_VERSION  the version that it says it is
//   NCCL_MAX_CTAS                channels of a communicator, in place of its
//                                configuration's maxCTAs
//   NCCL_ALGO, NCCL_PROTO        how reductions add: NcclSums.cpp
// WEFT_EMULATION_UUID of the driver tells the devices of ranks apart.
//
//===----------------------------------------------------------------------===//

#include "NcclEntry.h"
#include "Settings.h"

using namespace weft::emulation;

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

WEFT_EXPORT ncclResult_t ncclGetVersion(int *version) {
  WEFT_BEGIN(ncclGetVersion);
  if (!version)
    return refuse(ncclInvalidArgument, "ncclGetVersion: version is null");
  *version = static_cast<int>(
      numberSetting("WEFT_EMULATION_NCCL_VERSION", NCCL_VERSION_CODE));
  return ncclSuccess;
}

WEFT_EXPORT const char *ncclGetErrorString(ncclResult_t result) {
  switch (result) {
  case ncclSuccess:
    return "no error";
  case ncclUnhandledCudaError:
    return "a call of CUDA failed";
  case ncclSystemError:
    return "a call of the system failed";
  case ncclInternalError:
    return "internal error";
  case ncclInvalidArgument:
    return "invalid argument";
  case ncclInvalidUsage:
    return "invalid usage";
  case ncclRemoteError:
    return "another rank failed or closed its connection";
  case ncclInProgress:
    return "the call is in progress";
  default:
    return "unknown result";
  }
}

/// The text of the communicator's error, if it has one. Valid until the next
/// call of the thread.
WEFT_EXPORT const char *ncclGetLastError(ncclComm_t comm) {
  static thread_local std::string text;
  text = lastText();
  if (CommunicatorRef communicator = findCommunicator(comm)) {
    std::lock_guard<std::mutex> lock(communicator->mutex);
    if (communicator->failure)
      text = communicator->failure.text;
  }
  return text.c_str();
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

/// Waits until all ranks are here: none sends anything afterwards.
static Failure sayGoodbye(Communicator &communicator) {
  std::lock_guard<std::mutex> lock(communicator.meshMutex);
  std::vector<std::string> ignored;
  return communicator.mesh->exchange({communicator.stop}, Frame::Goodbye, "",
                                     ignored);
}

static ncclResult_t finalize(const char *entry,
                             const CommunicatorRef &communicator,
                             bool isBlocking) {
  if (Failure failure = findIssued(*communicator))
    return refuse(failure.result, std::string(entry) + ": " + failure.text);
  {
    std::lock_guard<std::mutex> lock(communicator->mutex);
    if (!communicator->windows.empty())
      return refuse(ncclInvalidUsage,
                    std::string(entry) + ": windows are still registered");
    communicator->isFinalized = true;
  }
  return startJob(entry, communicator, {}, isBlocking,
                  [communicator] { return sayGoodbye(*communicator); });
}

WEFT_EXPORT ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  WEFT_CALL(ncclCommFinalize, comm);
  if (ncclResult_t error = refuseInGroupOrCapture("ncclCommFinalize"))
    return error;
  return finalize("ncclCommFinalize", call.communicator,
                  call.communicator->settled.isBlocking);
}

WEFT_EXPORT ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  WEFT_CALL(ncclCommDestroy, comm, /*mayBeFinalized=*/true);
  if (ncclResult_t error = refuseInGroupOrCapture("ncclCommDestroy"))
    return error;
  Communicator &communicator = *call.communicator;
  std::unique_lock<std::mutex> lock(communicator.mutex);
  const bool isFinalized = communicator.isFinalized;
  lock.unlock();
  if (!isFinalized)
    if (ncclResult_t error = finalize("ncclCommDestroy", call.communicator,
                                      /*isBlocking=*/true))
      return error;
  endCommunicator(communicator, "ncclCommDestroy");
  return ncclSuccess;
}

/// From any thread and at any time: the driver may be at work and is not asked
/// for anything that waits for it.
WEFT_EXPORT ncclResult_t ncclCommAbort(ncclComm_t comm) {
  WEFT_BEGIN(ncclCommAbort);
  CommunicatorRef communicator = findCommunicator(comm);
  if (!communicator)
    return refuse(ncclInvalidArgument, "ncclCommAbort: expects a communicator");
  if (driverFunction<int (*)()>("weft_emulation_captures")() != 0)
    return refuse(ncclInvalidUsage,
                  "ncclCommAbort: a call while a stream captures");
  {
    std::unique_lock<std::mutex> lock(communicator->mutex);
    if (communicator->endedBy)
      return refuse(ncclInvalidArgument,
                    std::string("ncclCommAbort: a communicator after ") +
                        communicator->endedBy);
    communicator->endedBy = "ncclCommAbort";
    communicator->stop->set();
    communicator->changed.wait(lock, [&] {
      return communicator->numRunning == 0 && !communicator->isWorking;
    });
  }
  endCommunicator(*communicator, "ncclCommAbort");
  return ncclSuccess;
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

/// Notices a peer that is gone while nothing else moves frames.
static void lookAtPeers(Communicator &communicator) {
  std::unique_lock<std::mutex> lock(communicator.meshMutex, std::try_to_lock);
  if (!lock.owns_lock() || !communicator.mesh)
    return;
  Failure failure = communicator.mesh->look();
  lock.unlock();
  std::unique_lock<std::mutex> state(communicator.mutex);
  const bool isExpected = communicator.isFinalized || communicator.isWorking;
  state.unlock();
  if (failure && !isExpected)
    setFailure(communicator, failure);
}

WEFT_EXPORT ncclResult_t ncclCommGetAsyncError(ncclComm_t comm,
                                               ncclResult_t *error) {
  WEFT_BEGIN(ncclCommGetAsyncError);
  CommunicatorRef communicator = findCommunicator(comm);
  if (!communicator || !error)
    return refuse(ncclInvalidArgument,
                  "ncclCommGetAsyncError: expects a communicator and a place");
  lookAtPeers(*communicator);
  std::lock_guard<std::mutex> lock(communicator->mutex);
  if (communicator->endedBy)
    return refuse(ncclInvalidArgument,
                  std::string("ncclCommGetAsyncError: a communicator after ") +
                      communicator->endedBy);
  *error = communicator->failure     ? communicator->failure.result
           : communicator->isWorking ? ncclInProgress
                                     : ncclSuccess;
  if (*error == ncclSuccess)
    communicator->isUnseen = false;
  return ncclSuccess;
}

static ncclResult_t answer(int *place, int value) {
  if (!place)
    return refuse(ncclInvalidArgument, "a question whose answer has no place");
  *place = value;
  return ncclSuccess;
}

WEFT_EXPORT ncclResult_t ncclCommCount(const ncclComm_t comm, int *count) {
  WEFT_CALL(ncclCommCount, comm);
  return answer(count, call.communicator->size);
}

WEFT_EXPORT ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device) {
  WEFT_CALL(ncclCommCuDevice, comm);
  return answer(device, 0);
}

WEFT_EXPORT ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank) {
  WEFT_CALL(ncclCommUserRank, comm);
  return answer(rank, call.communicator->rank);
}
