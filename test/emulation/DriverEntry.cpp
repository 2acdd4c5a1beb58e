//===- DriverEntry.cpp - Checks at the entry of driver calls --------------===//

#include "Driver.h"
#include "Fail.h"
#include "Memory.h"
#include "Settings.h"

#include <cstdlib>
#include <cstring>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

namespace {
struct ErrorText {
  CUresult error;
  const char *name, *text;
};
} // namespace

#define WEFT_ERROR(name, text) {name, #name, text}
static const ErrorText kErrors[] = {
    WEFT_ERROR(CUDA_SUCCESS, "no error"),
    WEFT_ERROR(CUDA_ERROR_INVALID_VALUE, "invalid argument"),
    WEFT_ERROR(CUDA_ERROR_OUT_OF_MEMORY, "out of memory"),
    WEFT_ERROR(CUDA_ERROR_NOT_INITIALIZED, "initialization error"),
    WEFT_ERROR(CUDA_ERROR_DEINITIALIZED, "driver shutting down"),
    WEFT_ERROR(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"),
    WEFT_ERROR(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal"),
    WEFT_ERROR(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid"),
    WEFT_ERROR(CUDA_ERROR_INVALID_CONTEXT, "invalid device context"),
    WEFT_ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU,
               "no kernel image is available for execution on the device"),
    WEFT_ERROR(CUDA_ERROR_ECC_UNCORRECTABLE,
               "uncorrectable ECC error encountered"),
    WEFT_ERROR(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle"),
    WEFT_ERROR(CUDA_ERROR_NOT_FOUND, "named symbol not found"),
    WEFT_ERROR(CUDA_ERROR_NOT_READY, "device not ready"),
    WEFT_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS,
               "an illegal memory access was encountered"),
    WEFT_ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
               "too many resources requested for launch"),
    WEFT_ERROR(CUDA_ERROR_LAUNCH_TIMEOUT,
               "the launch timed out and was terminated"),
    WEFT_ERROR(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure"),
    WEFT_ERROR(CUDA_ERROR_NOT_PERMITTED, "operation not permitted"),
    WEFT_ERROR(CUDA_ERROR_NOT_SUPPORTED, "operation not supported"),
    WEFT_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
               "operation not permitted when stream is capturing"),
    WEFT_ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
               "operation failed due to a previous error during capture"),
    WEFT_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
               "capture was not initiated in this stream"),
    WEFT_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
               "capturing stream has unjoined work"),
    WEFT_ERROR(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
               "dependency created on uncaptured work in another stream"),
    WEFT_ERROR(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
               "operation would make the legacy stream depend on a capturing "
               "blocking stream"),
    WEFT_ERROR(CUDA_ERROR_CAPTURED_EVENT,
               "operation not permitted on an event last recorded in a "
               "capturing stream"),
    WEFT_ERROR(CUDA_ERROR_UNKNOWN, "unknown error"),
};

static const ErrorText *findError(CUresult error) {
  for (const ErrorText &known : kErrors)
    if (known.error == error)
      return &known;
  return nullptr;
}

CUresult refuse(CUresult error, const std::string &message) {
  const ErrorText *known = findError(error);
  std::fprintf(stderr, "emulation: note: %s: %s\n",
               known ? known->name : "error", message.c_str());
  return error;
}

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

int chipNumber() {
  const char *text = std::getenv("WEFT_EMULATION_CHIP");
  std::string chip = text ? text : "sm_90";
  for (int known : {80, 90, 100})
    if (chip == "sm_" + std::to_string(known))
      return known;
  fail("expects WEFT_EMULATION_CHIP to be sm_80, sm_90 or sm_100, but got " +
       chip);
}

uint64_t chosenSeed() { return numberSetting("WEFT_EMULATION_SEED", 0); }

static std::optional<int> findErrorByName(const std::string &name) {
  for (const ErrorText &known : kErrors)
    if (name == known.name)
      return known.error;
  return std::nullopt;
}

static CUresult injectedError(const char *entry) {
  static const Entries entries = {
      "cu", reinterpret_cast<const void *>(&findErrorByName), findErrorByName};
  std::optional<int> error = faultOf(entries, entry);
  if (!error)
    return CUDA_SUCCESS;
  return refuse(static_cast<CUresult>(*error),
                std::string(entry) + " fails as asked");
}

/// Whether CUDA_VISIBLE_DEVICES leaves the one device there is: a list of
/// numbers that ends with the first that is no device.
bool isDeviceVisible() {
  const char *text = std::getenv("CUDA_VISIBLE_DEVICES");
  std::string list = text ? text : "0";
  return list.substr(0, list.find(',')) == "0";
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

std::recursive_mutex &driverMutex() {
  static auto *mutex = new std::recursive_mutex;
  return *mutex;
}

static bool isInitialized;
static int numRetained;
static thread_local bool hasContext;

static size_t contextBytes() {
  return numberSetting("WEFT_EMULATION_CONTEXT", 0);
}

/// The only context: the device's primary one.
static CUcontext theContext() {
  static char place;
  return reinterpret_cast<CUcontext>(&place);
}

CUresult enter(const char *entry, Needs needs) {
  if (CUresult error = injectedError(entry))
    return error;
  if (isOnDevice())
    return refuse(CUDA_ERROR_NOT_PERMITTED,
                  std::string(entry) + " in the middle of the device's work");
  if (needs != Needs::Nothing && !isInitialized)
    return CUDA_ERROR_NOT_INITIALIZED;
  if (needs == Needs::Context && (!hasContext || !numRetained))
    return CUDA_ERROR_INVALID_CONTEXT;
  return CUDA_SUCCESS;
}

} // namespace weft::emulation

using namespace weft::emulation;

CUresult cuGetErrorName(CUresult error, const char **text) {
  const ErrorText *known = findError(error);
  *text = known ? known->name : nullptr;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  const ErrorText *known = findError(error);
  *text = known ? known->text : nullptr;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuInit(unsigned flags) {
  WEFT_ENTER("cuInit", Needs::Nothing);
  if (flags)
    return CUDA_ERROR_INVALID_VALUE;
  chipNumber();
  chosenSeed();
  DeviceMemory::get();
  if (!isDeviceVisible())
    return refuse(CUDA_ERROR_NO_DEVICE, "CUDA_VISIBLE_DEVICES shows none");
  isInitialized = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
  WEFT_ENTER("cuDriverGetVersion", Needs::Nothing);
  *version = driverVersion();
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  WEFT_ENTER("cuDevicePrimaryCtxRetain", Needs::Init);
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  if (numRetained == 0 && !DeviceMemory::get().take(contextBytes()))
    return CUDA_ERROR_OUT_OF_MEMORY;
  ++numRetained;
  *context = theContext();
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  WEFT_ENTER("cuDevicePrimaryCtxRelease_v2", Needs::Init);
  if (device != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  if (numRetained == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (--numRetained == 0) {
    runOnDevice([] { queue().finishAll(); });
    DeviceMemory::get().giveBack(contextBytes());
  }
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  WEFT_ENTER("cuCtxSetCurrent", Needs::Init);
  if (context && context != theContext())
    return CUDA_ERROR_INVALID_CONTEXT;
  hasContext = context != nullptr;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  WEFT_ENTER("cuCtxGetCurrent", Needs::Init);
  *context = hasContext ? theContext() : nullptr;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  WEFT_ENTER("cuCtxSynchronize", Needs::Context);
  if (CUresult error = refuseInCapture("cuCtxSynchronize"))
    return error;
  runOnDevice([] { queue().finishAll(); });
  return CUDA_SUCCESS;
}
