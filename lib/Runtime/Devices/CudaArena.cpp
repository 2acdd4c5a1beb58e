//===- CudaArena.cpp - Memory of a device by mapping ----------------------===//

#include "weft/Runtime/Devices/CudaDriver.h"

#include <algorithm>

using namespace weft;

static CUmemAllocationProp propertiesOn(CUdevice device) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  return properties;
}

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

/// The memory lives as long as its mapping, so the handle is released at once.
Status CudaArena::map(CUdevice device) {
  const CudaCalls cuda(driver);
  const CUmemAllocationProp properties = propertiesOn(device);
  CUmemGenericAllocationHandle memory = 0;
  if (Status s = cuda.cuMemCreate(&memory, bytes, &properties, 0ull); !s)
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
                                    int64_t bytes) {
  const CUmemAllocationProp properties = propertiesOn(device);
  size_t unit = 0;
  if (Status s = cuda.cuMemGetAllocationGranularity(
          &unit, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
      !s)
    return s.takeError();
  CudaArena arena(cuda.driver());
  const size_t wanted = size_t(std::max<int64_t>(bytes, 1));
  arena.bytes = (wanted + unit - 1) / unit * unit;
  if (Status s = cuda.cuMemAddressReserve(&arena.address, arena.bytes,
                                          size_t(0), CUdeviceptr(0), 0ull);
      !s)
    return s.takeError();
  if (Status s = arena.map(device); !s)
    return s.takeError();
  return arena;
}
