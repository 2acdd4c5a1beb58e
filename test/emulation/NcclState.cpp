//===- NcclState.cpp - Communicators of the emulated NCCL -----------------===//

#include "Fail.h"
#include "LibraryWork.h"
#include "NcclObjects.h"
#include "Settings.h"

#include <cstdio>
#include <utility>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

const char *errorName(ncclResult_t result) {
  static const char *const names[] = {
      "ncclSuccess",       "ncclUnhandledCudaError", "ncclSystemError",
      "ncclInternalError", "ncclInvalidArgument",    "ncclInvalidUsage",
      "ncclRemoteError",   "ncclInProgress"};
  return result >= 0 && result < ncclNumResults ? names[result] : "no result";
}

static std::mutex textMutex;

static std::string &keptText() {
  static auto *text = new std::string;
  return *text;
}

ncclResult_t refuse(ncclResult_t result, const std::string &text) {
  std::fprintf(stderr, "emulation: note: %s: %s\n", errorName(result),
               text.c_str());
  std::lock_guard<std::mutex> lock(textMutex);
  keptText() = text;
  return result;
}

std::string lastText() {
  std::lock_guard<std::mutex> lock(textMutex);
  return keptText();
}

void *needFromDriver(const char *name) {
  void *function = findInDriver(name);
  if (!function)
    fail(std::string("the emulated NCCL needs the emulated CUDA driver, which "
                     "has no ") +
         name);
  return function;
}

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

static std::mutex handlesMutex;

static std::map<const void *, CommunicatorRef> &handles() {
  static auto *all = new std::map<const void *, CommunicatorRef>;
  return *all;
}

ncclComm_t addCommunicator(CommunicatorRef communicator) {
  std::lock_guard<std::mutex> lock(handlesMutex);
  void *place = communicator.get();
  handles()[place] = std::move(communicator);
  return static_cast<ncclComm_t>(place);
}

CommunicatorRef findCommunicator(ncclComm_t handle) {
  std::lock_guard<std::mutex> lock(handlesMutex);
  auto found = handles().find(handle);
  return found == handles().end() ? nullptr : found->second;
}

void setFailure(Communicator &communicator, const Failure &failure) {
  std::lock_guard<std::mutex> lock(communicator.mutex);
  if (communicator.failure || communicator.stop->isSet())
    return;
  communicator.failure = failure;
  refuse(failure.result, failure.text);
}

Failure takeMemory(Communicator &communicator) {
  const size_t bytes = numberSetting("WEFT_EMULATION_NCCL_MEMORY", 0);
  auto take = driverFunction<int (*)(size_t)>("weft_emulation_take_memory");
  if (!take(bytes))
    return {ncclUnhandledCudaError, "Cuda failure 2 'out of memory'"};
  std::lock_guard<std::mutex> lock(communicator.mutex);
  communicator.memoryBytes = bytes;
  return {};
}

/// The communicator is locked.
static void giveBackMemory(Communicator &communicator) {
  auto giveBack =
      driverFunction<void (*)(size_t)>("weft_emulation_give_back_memory");
  giveBack(std::exchange(communicator.memoryBytes, 0));
}

void endCommunicator(Communicator &communicator, const char *call) {
  {
    std::lock_guard<std::mutex> lock(communicator.mutex);
    communicator.endedBy = call;
    communicator.windows.clear();
    giveBackMemory(communicator);
  }
  std::lock_guard<std::mutex> lock(communicator.meshMutex);
  communicator.mesh.reset();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

bool hold(Communicator &communicator) {
  std::lock_guard<std::mutex> lock(communicator.mutex);
  if (communicator.numUses && communicator.user != std::this_thread::get_id())
    return false;
  communicator.user = std::this_thread::get_id();
  ++communicator.numUses;
  return true;
}

void release(Communicator &communicator) {
  std::lock_guard<std::mutex> lock(communicator.mutex);
  --communicator.numUses;
}

Failure findUnusable(const Communicator &communicator, bool mayBeFinalized) {
  if (communicator.endedBy)
    return {ncclInvalidArgument,
            std::string("a communicator after ") + communicator.endedBy};
  if (communicator.failure)
    return {communicator.failure.result,
            "a communicator that has failed: " + communicator.failure.text};
  if (communicator.isWorking || communicator.isUnseen)
    return {ncclInvalidArgument,
            "a communicator before ncclCommGetAsyncError has given "
            "ncclSuccess"};
  if (communicator.isFinalized && !mayBeFinalized)
    return {ncclInvalidUsage, "a communicator after ncclCommFinalize"};
  return {};
}

ncclResult_t Call::begin(const char *entry, ncclComm_t handle,
                         bool mayBeFinalized) {
  if (std::optional<ncclResult_t> fault = injectedFault(entry))
    return *fault;
  const std::string name = entry;
  CommunicatorRef found = findCommunicator(handle);
  if (!found)
    return refuse(ncclInvalidArgument,
                  name + ": expects a communicator, but got " +
                      (handle ? "something else" : "null"));
  if (!hold(*found))
    return refuse(ncclInvalidUsage,
                  name + ": a communicator that another thread uses now");
  std::unique_lock<std::mutex> lock(found->mutex);
  Failure failure = findUnusable(*found, mayBeFinalized);
  lock.unlock();
  if (failure) {
    release(*found);
    return refuse(failure.result, name + ": " + failure.text);
  }
  communicator = std::move(found);
  return ncclSuccess;
}

Call::Call(const char *entry, ncclComm_t handle, bool mayBeFinalized) {
  error = begin(entry, handle, mayBeFinalized);
}

Call::~Call() {
  if (communicator)
    release(*communicator);
}

ncclResult_t refuseInGroupOrCapture(const char *entry) {
  if (isInGroup())
    return refuse(ncclInvalidUsage,
                  std::string(entry) +
                      ": the emulation does not support it in a group");
  auto refuseInCapture =
      driverFunction<int (*)(const char *)>("weft_emulation_refuse_in_capture");
  if (refuseInCapture(entry) != 0)
    return refuse(ncclInvalidUsage,
                  std::string(entry) + ": a call while a stream captures");
  return ncclSuccess;
}

//===----------------------------------------------------------------------===//
// Jobs
//===----------------------------------------------------------------------===//

Failure findIssued(Communicator &communicator) {
  std::lock_guard<std::mutex> lock(communicator.mutex);
  if (communicator.numIssued == 0)
    return {};
  return {ncclInvalidUsage,
          "expects no operations that have not run, but got " +
              std::to_string(communicator.numIssued) +
              ": wait for their streams first"};
}

static void endJob(Communicator &communicator, const Failure &failure,
                   bool isBlocking) {
  if (failure)
    setFailure(communicator, failure);
  std::lock_guard<std::mutex> lock(communicator.mutex);
  communicator.isWorking = false;
  communicator.isUnseen = !isBlocking;
  communicator.changed.notify_all();
}

ncclResult_t startJob(const char *entry, const CommunicatorRef &communicator,
                      const std::vector<CommunicatorRef> &others,
                      bool isBlocking, std::function<Failure()> job) {
  std::vector<CommunicatorRef> all = others;
  all.push_back(communicator);
  for (const CommunicatorRef &one : all) {
    std::lock_guard<std::mutex> lock(one->mutex);
    one->isWorking = true;
  }
  Stops stops;
  for (const CommunicatorRef &one : all)
    stops.push_back(one->stop);
  if (isAbsent(entry))
    job = [stops]() -> Failure {
      waitForStop(stops);
      return {ncclInternalError, "the communicator was aborted"};
    };
  auto run = [=, name = std::string(entry)] {
    Failure failure = job();
    if (failure)
      failure.text = name + ": " + failure.text;
    for (const CommunicatorRef &one : all)
      endJob(*one, failure, isBlocking);
    return failure.result;
  };
  if (isBlocking)
    return run();
  std::thread(run).detach();
  return ncclInProgress;
}

} // namespace weft::emulation
