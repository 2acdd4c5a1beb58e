//===- NcclRegister.cpp - Registered memory of the emulated NCCL ----------===//

#include "NcclEntry.h"
#include "Settings.h"

using namespace weft::emulation;

namespace {
/// Arguments that must be equal on all ranks.
struct WindowWish {
  uint64_t bytes;
  int64_t flags;
};
} // namespace

static Failure checkWindow(const void *place, size_t bytes,
                           const ncclWindow_t *window, int flags) {
  if (!place || !window)
    return {ncclInvalidArgument, "expects memory and a place, but got null"};
  if (flags != NCCL_WIN_DEFAULT && flags != NCCL_WIN_COLL_SYMMETRIC)
    return {ncclInvalidArgument,
            "expects flags of windows, but got " + std::to_string(flags)};
  const size_t unit =
      driverFunction<size_t (*)()>("weft_emulation_granularity")();
  if (bytes == 0 || bytes % unit != 0 ||
      reinterpret_cast<uintptr_t>(place) % unit != 0)
    return {ncclInvalidArgument, "expects memory in whole units of " +
                                     std::to_string(unit) + " bytes, but got " +
                                     std::to_string(bytes) + " bytes"};
  auto isMapped =
      driverFunction<int (*)(const void *, size_t)>("weft_emulation_is_mapped");
  if (!isMapped(place, bytes))
    return {ncclInvalidArgument, "expects memory that cuMemMap has mapped"};
  return {};
}

/// NCCL exports the memory to the other processes, and binds it to multicast
/// objects where the device has them.
static Failure checkSharing(const void *place, size_t bytes) {
  auto isExportable =
      driverFunction<int (*)(const void *)>("weft_emulation_is_exportable");
  if (!isExportable(place))
    return {ncclUnhandledCudaError, "Cuda failure 1 'invalid argument': the "
                                    "memory may not be exported"};
  const size_t unit =
      driverFunction<size_t (*)()>("weft_emulation_multicast")();
  if (unit && bytes % unit != 0)
    return {ncclUnhandledCudaError,
            "Cuda failure 1 'invalid argument': multicast objects take units "
            "of " +
                std::to_string(unit) + " bytes, but got " +
                std::to_string(bytes)};
  return {};
}

static void addWindow(Communicator &communicator, const Window &added,
                      ncclWindow_t *window) {
  auto made = std::make_unique<Window>(added);
  *window = reinterpret_cast<ncclWindow_t>(made.get());
  std::lock_guard<std::mutex> lock(communicator.mutex);
  communicator.windows[made.get()] = std::move(made);
}

/// Where the ranks cannot map each other's memory, which NCCL_WIN_ENABLE=0
/// stands for: up to 2.28 the memory is registered for this rank alone, later
/// versions register nothing. Both succeed.
static bool hasSymmetricMemory() {
  return numberSetting("NCCL_WIN_ENABLE", 1) != 0;
}

static void registerLocally(Communicator &communicator, const void *place,
                            size_t bytes, ncclWindow_t *window) {
  if (numberSetting("WEFT_EMULATION_NCCL_VERSION", NCCL_VERSION_CODE) < 22900)
    addWindow(communicator, {place, bytes}, window);
}

static Failure registerWindow(Communicator &communicator, const void *place,
                              size_t bytes, int flags, ncclWindow_t *window) {
  if (Failure failure = checkSharing(place, bytes))
    return failure;
  {
    std::lock_guard<std::mutex> lock(communicator.meshMutex);
    std::vector<std::string> all;
    if (Failure failure = communicator.mesh->exchange(
            {communicator.stop}, Frame::Window,
            bytesOfValue(WindowWish{bytes, flags}), all))
      return failure;
    for (size_t rank = 0; rank < all.size(); ++rank) {
      const auto other = valueOfBytes<WindowWish>(all[rank]);
      if (other.bytes != bytes || other.flags != flags)
        return {ncclInvalidUsage,
                "rank " + std::to_string(communicator.rank) + " registers " +
                    std::to_string(bytes) + " bytes with flags " +
                    std::to_string(flags) + ", but rank " +
                    std::to_string(rank) + " registers " +
                    std::to_string(other.bytes) + " with flags " +
                    std::to_string(other.flags)};
    }
  }
  addWindow(communicator, {place, bytes, flags == NCCL_WIN_COLL_SYMMETRIC},
            window);
  return {};
}

WEFT_EXPORT ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void *place,
                                                size_t bytes,
                                                ncclWindow_t *window,
                                                int flags) {
  WEFT_CALL(ncclCommWindowRegister, comm);
  if (ncclResult_t error = refuseInGroupOrCapture("ncclCommWindowRegister"))
    return error;
  CommunicatorRef communicator = call.communicator;
  Failure failure = checkWindow(place, bytes, window, flags);
  if (!failure)
    failure = findIssued(*communicator);
  if (failure)
    return refuse(failure.result, "ncclCommWindowRegister: " + failure.text);
  *window = nullptr;
  if (!hasSymmetricMemory()) {
    registerLocally(*communicator, place, bytes, window);
    return ncclSuccess;
  }
  return startJob("ncclCommWindowRegister", communicator, {},
                  communicator->settled.isBlocking, [=] {
                    return registerWindow(*communicator, place, bytes, flags,
                                          window);
                  });
}

WEFT_EXPORT ncclResult_t ncclCommWindowDeregister(ncclComm_t comm,
                                                  ncclWindow_t window) {
  WEFT_CALL(ncclCommWindowDeregister, comm);
  if (ncclResult_t error = refuseInGroupOrCapture("ncclCommWindowDeregister"))
    return error;
  if (Failure failure = findIssued(*call.communicator))
    return refuse(failure.result, "ncclCommWindowDeregister: " + failure.text);
  if (!window)
    return ncclSuccess;
  std::lock_guard<std::mutex> lock(call.communicator->mutex);
  if (!call.communicator->windows.erase(reinterpret_cast<Window *>(window)))
    return refuse(ncclInvalidArgument,
                  "ncclCommWindowDeregister: expects a window of the "
                  "communicator, but got something else");
  return ncclSuccess;
}
