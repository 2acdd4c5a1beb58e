//===- CudaArena.cpp - Memory of a device by mapping ----------------------===//

#include "weft/Runtime/Devices/CudaDriver.h"

#include <algorithm>
#include <numeric>

using namespace weft;

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

static Expected<bool> supports(const CudaCalls &cuda, CUdevice device,
                               CUdevice_attribute attribute) {
  int value = 0;
  if (Status s = cuda.cuDeviceGetAttribute(&value, attribute, device); !s)
    return s.takeError();
  return value != 0;
}

/// Properties as ncclMemAlloc() chooses them: NCCL exports the memory to the
/// other processes of the machine, and network cards may access it.
static Status makeExportable(const CudaCalls &cuda, CUdevice device,
                             CUmemAllocationProp &properties) {
  auto hasFabric =
      supports(cuda, device, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED);
  if (!hasFabric)
    return hasFabric.takeError();
  auto hasRdma =
      supports(cuda, device,
               CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED);
  if (!hasRdma)
    return hasRdma.takeError();
  int types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  if (*hasFabric)
    types |= CU_MEM_HANDLE_TYPE_FABRIC;
  properties.requestedHandleTypes = CUmemAllocationHandleType(types);
  properties.allocFlags.gpuDirectRDMACapable = *hasRdma;
  return Status::success();
}

static Expected<CUmemAllocationProp>
propertiesOn(const CudaCalls &cuda, CUdevice device, bool isShared) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  if (isShared)
    if (Status s = makeExportable(cuda, device, properties); !s)
      return s.takeError();
  return properties;
}

static size_t roundUp(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// NCCL binds a window to multicast objects, whose granularity may be larger.
/// Asked for two devices on each rank, so that all arenas have one size.
static Expected<size_t> multicastUnit(const CudaCalls &cuda, CUdevice device,
                                      size_t bytes) {
  auto hasMulticast =
      supports(cuda, device, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED);
  if (!hasMulticast)
    return hasMulticast.takeError();
  if (!*hasMulticast)
    return size_t(1);
  CUmulticastObjectProp object = {};
  object.numDevices = 2;
  object.size = bytes;
  object.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  size_t unit = 0;
  if (Status s = cuda.cuMulticastGetGranularity(
          &unit, &object, CU_MULTICAST_GRANULARITY_RECOMMENDED);
      !s)
    return s.takeError();
  return unit;
}

//===----------------------------------------------------------------------===//
// Arena
//===----------------------------------------------------------------------===//

CudaArena &CudaArena::operator=(CudaArena &&other) noexcept {
  std::swap(driver, other.driver);
  std::swap(address, other.address);
  std::swap(bytes, other.bytes);
  std::swap(isMapped, other.isMapped);
  return *this;
}

CudaArena::~CudaArena() {
  if (isMapped)
    driver.cuMemUnmap(address, bytes);
  if (address)
    driver.cuMemAddressFree(address, bytes);
}

/// A process may lack the permission to share memory over a fabric, which only
/// systems of several machines need.
static Status createMemory(const CudaCalls &cuda, size_t bytes,
                           CUmemAllocationProp properties,
                           CUmemGenericAllocationHandle &memory) {
  CUresult result =
      cuda.driver().cuMemCreate(&memory, bytes, &properties, 0ull);
  const bool isRefused =
      result == CUDA_ERROR_NOT_PERMITTED || result == CUDA_ERROR_NOT_SUPPORTED;
  if (isRefused &&
      (properties.requestedHandleTypes & CU_MEM_HANDLE_TYPE_FABRIC)) {
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    result = cuda.driver().cuMemCreate(&memory, bytes, &properties, 0ull);
  }
  return result == CUDA_SUCCESS ? Status::success()
                                : Status(cuda.failure("cuMemCreate", result));
}

/// The memory lives as long as its mapping, so the handle is released at once.
Status CudaArena::map(const CUmemAllocationProp &properties) {
  const CudaCalls cuda(driver);
  CUmemGenericAllocationHandle memory = 0;
  if (Status s = createMemory(cuda, bytes, properties, memory); !s)
    return s;
  Status mapped = cuda.cuMemMap(address, bytes, size_t(0), memory, 0ull);
  isMapped = bool(mapped);
  Status released = cuda.cuMemRelease(memory);
  if (!mapped)
    return mapped;
  if (!released)
    return released;
  CUmemAccessDesc access = {};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return cuda.cuMemSetAccess(address, bytes, &access, size_t(1));
}

Expected<CudaArena> CudaArena::make(const CudaCalls &cuda, CUdevice device,
                                    int64_t bytes, bool isShared) {
  auto properties = propertiesOn(cuda, device, isShared);
  if (!properties)
    return properties.takeError();
  size_t unit = 0;
  if (Status s = cuda.cuMemGetAllocationGranularity(
          &unit, &*properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
      !s)
    return s.takeError();
  const auto wanted = size_t(std::max<int64_t>(bytes, 1));
  Expected<size_t> multicast =
      isShared ? multicastUnit(cuda, device, roundUp(wanted, unit)) : size_t(1);
  if (!multicast)
    return multicast.takeError();
  CudaArena arena(cuda.driver());
  arena.bytes = roundUp(wanted, std::lcm(unit, *multicast));
  if (Status s = cuda.cuMemAddressReserve(&arena.address, arena.bytes,
                                          size_t(0), CUdeviceptr(0), 0ull);
      !s)
    return s.takeError();
  if (Status s = arena.map(*properties); !s)
    return s.takeError();
  return arena;
}
