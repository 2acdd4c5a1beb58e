//===- CudaDriver.h - The entry points of the CUDA driver -------*- C++ -*-===//
//
// A table of functions, which the driver fills when it is opened by name, and a
// test with its own. Needs cuda.h of the toolkit, and no library of it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDADRIVER_H
#define WEFT_RUNTIME_DEVICES_CUDADRIVER_H

#include "weft/Base/Results.h"

#include <cuda.h>
#include <string>
#include <utility>

/// Every entry point once, by the name under which the driver has it.
#define WEFT_CUDA_DRIVER_CALLS(X)                                              \
  X(cuInit)                                                                    \
  X(cuDriverGetVersion)                                                        \
  X(cuDeviceGetCount)                                                          \
  X(cuDeviceGet)                                                               \
  X(cuDeviceGetName)                                                           \
  X(cuDeviceGetUuid_v2)                                                        \
  X(cuDeviceGetPCIBusId)                                                       \
  X(cuDeviceGetAttribute)                                                      \
  X(cuDevicePrimaryCtxRetain)                                                  \
  X(cuDevicePrimaryCtxRelease_v2)                                              \
  X(cuCtxSetCurrent)                                                           \
  X(cuMemGetInfo_v2)                                                           \
  X(cuMemGetAllocationGranularity)                                             \
  X(cuMulticastGetGranularity)                                                 \
  X(cuMemAddressReserve)                                                       \
  X(cuMemAddressFree)                                                          \
  X(cuMemCreate)                                                               \
  X(cuMemRelease)                                                              \
  X(cuMemMap)                                                                  \
  X(cuMemUnmap)                                                                \
  X(cuMemSetAccess)                                                            \
  X(cuMemAllocHost_v2)                                                         \
  X(cuMemFreeHost)                                                             \
  X(cuMemcpyHtoDAsync_v2)                                                      \
  X(cuMemcpyDtoHAsync_v2)                                                      \
  X(cuMemcpyDtoDAsync_v2)                                                      \
  X(cuMemsetD8Async)                                                           \
  X(cuCtxGetStreamPriorityRange)                                               \
  X(cuStreamCreate)                                                            \
  X(cuStreamCreateWithPriority)                                                \
  X(cuStreamDestroy_v2)                                                        \
  X(cuStreamSynchronize)                                                       \
  X(cuStreamWaitEvent)                                                         \
  X(cuStreamWriteValue32_v2)                                                   \
  X(cuEventCreate)                                                             \
  X(cuEventDestroy_v2)                                                         \
  X(cuEventRecord)                                                             \
  X(cuEventRecordWithFlags)                                                    \
  X(cuEventSynchronize)                                                        \
  X(cuEventElapsedTime_v2)                                                     \
  X(cuModuleLoadData)                                                          \
  X(cuModuleUnload)                                                            \
  X(cuModuleGetFunction)                                                       \
  X(cuFuncSetAttribute)                                                        \
  X(cuLaunchKernel)                                                            \
  X(cuStreamBeginCapture_v2)                                                   \
  X(cuStreamEndCapture)                                                        \
  X(cuGraphInstantiateWithFlags)                                               \
  X(cuGraphLaunch)                                                             \
  X(cuGraphExecDestroy)                                                        \
  X(cuGraphDestroy)                                                            \
  X(cuGetErrorName)                                                            \
  X(cuGetErrorString)

namespace weft {

struct LibraryName;

struct CudaDriver {
#define WEFT_DRIVER_ENTRY(name) decltype(&::name) name = nullptr;
  WEFT_CUDA_DRIVER_CALLS(WEFT_DRIVER_ENTRY)
#undef WEFT_DRIVER_ENTRY

  /// libcuda.so.1 of this machine. Exit 9 with the places where it is not, with
  /// its version if it is too old, or with the entry point that it lacks.
  static Expected<CudaDriver> open();
  static LibraryName library();
};

/// "13.0" of 13000.
std::string cudaVersionText(int version);
/// The first driver for that version of CUDA: "580" for 13000.
std::string driverText(int version);

/// The same entry points; a failure is an error that names the call: exit 4
/// where memory is lacking, else 9.
class CudaCalls {
public:
  explicit CudaCalls(const CudaDriver &driver) : table(driver) {}
  const CudaDriver &driver() const { return table; }

#define WEFT_CHECKED_CALL(name)                                                \
  template <typename... Arguments> Status name(Arguments... arguments) const { \
    return check(#name, table.name(arguments...));                             \
  }
  WEFT_CUDA_DRIVER_CALLS(WEFT_CHECKED_CALL)
#undef WEFT_CHECKED_CALL

  /// The error of a call that gave that result.
  Error failure(const char *call, CUresult result) const;

private:
  Status check(const char *call, CUresult result) const {
    if (result == CUDA_SUCCESS)
      return Status::success();
    return failure(call, result);
  }

  CudaDriver table;
};

/// Something that the driver has made, and the entry point that gives it back.
template <typename Handle, auto Release> class CudaOwned {
public:
  CudaOwned() = default;
  CudaOwned(const CudaDriver &driver, Handle handle)
      : handle(handle), release(driver.*Release) {}
  CudaOwned(CudaOwned &&other) noexcept { *this = std::move(other); }
  CudaOwned &operator=(CudaOwned &&other) noexcept {
    std::swap(handle, other.handle);
    std::swap(release, other.release);
    return *this;
  }
  ~CudaOwned() {
    if (release)
      release(handle);
  }
  explicit operator bool() const { return release; }
  Handle get() const { return handle; }

private:
  Handle handle = {};
  CUresult (*release)(Handle) = nullptr;
};

using CudaPrimaryContext =
    CudaOwned<CUdevice, &CudaDriver::cuDevicePrimaryCtxRelease_v2>;
using CudaHostMemory = CudaOwned<void *, &CudaDriver::cuMemFreeHost>;
using CudaStream = CudaOwned<CUstream, &CudaDriver::cuStreamDestroy_v2>;
using CudaEvent = CudaOwned<CUevent, &CudaDriver::cuEventDestroy_v2>;
using CudaModule = CudaOwned<CUmodule, &CudaDriver::cuModuleUnload>;
using CudaGraph = CudaOwned<CUgraph, &CudaDriver::cuGraphDestroy>;
using CudaGraphExec = CudaOwned<CUgraphExec, &CudaDriver::cuGraphExecDestroy>;

/// Memory of a device at addresses of its own, by the driver's virtual memory
/// management, because graphs hold addresses.
class CudaArena {
public:
  /// At least `bytes`, in whole units of the device's granularity. Exit 4 where
  /// the device has not that much left. Memory that `isShared` is exportable to
  /// other processes, and a multiple of the unit of multicast objects.
  static Expected<CudaArena> make(const CudaCalls &cuda, CUdevice device,
                                  int64_t bytes, bool isShared = false);
  CudaArena() = default;
  CudaArena(CudaArena &&other) noexcept { *this = std::move(other); }
  CudaArena &operator=(CudaArena &&other) noexcept;
  /// The device works with none of it any more.
  ~CudaArena();

  CUdeviceptr get() const { return address; }
  size_t size() const { return bytes; }

private:
  explicit CudaArena(const CudaDriver &driver) : driver(driver) {}
  Status map(const CUmemAllocationProp &properties);

  CudaDriver driver;
  CUdeviceptr address = 0;
  size_t bytes = 0;
  bool isMapped = false;
};

/// Memory of the host that the device reads and writes by itself.
Expected<CudaHostMemory> makeHostMemory(const CudaCalls &cuda, int64_t bytes);
Expected<CudaStream> makeStream(const CudaCalls &cuda);
/// A stream whose kernels get processors before kernels of other streams.
Expected<CudaStream> makeUrgentStream(const CudaCalls &cuda);
/// One that is timed may be told from another by their distance.
Expected<CudaEvent> makeEvent(const CudaCalls &cuda, bool timed = false);

} // namespace weft

#endif // WEFT_RUNTIME_DEVICES_CUDADRIVER_H
