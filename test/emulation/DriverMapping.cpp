//===- DriverMapping.cpp - Virtual memory of the emulated driver ----------===//
//
// Addresses and memory apart: a program reserves addresses, makes memory, maps
// it there and asks for access. Memory lives as long as its handle or a mapping
// of it. Here one memory is mapped as a whole, to a whole reservation.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Memory.h"

#include <map>

namespace weft::emulation {
namespace {
/// Memory of cuMemCreate.
struct DeviceBytes {
  size_t bytes;
  int handleTypes = 0; // that it may be exported as
  bool hasHandle = true;
  CUdeviceptr mapping = 0;
};
using MemoryHandle = CUmemGenericAllocationHandle;
} // namespace

static std::map<MemoryHandle, DeviceBytes> &memories() {
  static auto *all = new std::map<MemoryHandle, DeviceBytes>;
  return *all;
}

/// Bytes of reservations by their address.
static std::map<CUdeviceptr, size_t> &reservations() {
  static auto *all = new std::map<CUdeviceptr, size_t>;
  return *all;
}

static bool isReserved(CUdeviceptr address, size_t bytes) {
  auto found = reservations().find(address);
  return found != reservations().end() && found->second == bytes;
}

static auto findMapping(CUdeviceptr address) {
  auto next = memories().begin();
  while (next != memories().end() && next->second.mapping != address)
    ++next;
  return next;
}

static void dropUnused(std::map<MemoryHandle, DeviceBytes>::iterator memory) {
  if (memory->second.hasHandle || memory->second.mapping)
    return;
  DeviceMemory::get().giveBack(memory->second.bytes);
  memories().erase(memory);
}

static constexpr int kHandleTypes =
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC;

static bool isOfDevice(const CUmemAllocationProp *properties) {
  return properties && !(properties->requestedHandleTypes & ~kHandleTypes) &&
         properties->allocFlags.gpuDirectRDMACapable <= 1 &&
         properties->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
         properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
         properties->location.id == 0;
}

static const Allocation &allocationAt(CUdeviceptr address) {
  return *DeviceMemory::get().find(reinterpret_cast<void *>(address));
}

static bool isWhole(size_t bytes) {
  return bytes != 0 && bytes % granularity() == 0;
}

} // namespace weft::emulation

using namespace weft::emulation;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

CUresult
cuMemGetAllocationGranularity(size_t *unit,
                              const CUmemAllocationProp *properties,
                              CUmemAllocationGranularity_flags option) {
  WEFT_ENTER("cuMemGetAllocationGranularity", Needs::Context);
  if (!unit || !isOfDevice(properties) ||
      option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
    return CUDA_ERROR_INVALID_VALUE;
  *unit = granularity();
  return CUDA_SUCCESS;
}

CUresult cuMulticastGetGranularity(size_t *unit,
                                   const CUmulticastObjectProp *object,
                                   CUmulticastGranularity_flags option) {
  WEFT_ENTER("cuMulticastGetGranularity", Needs::Init);
  if (!unit || !object || object->numDevices == 0 || object->flags ||
      (object->handleTypes & ~uint64_t(kHandleTypes)) ||
      option > CU_MULTICAST_GRANULARITY_RECOMMENDED)
    return CUDA_ERROR_INVALID_VALUE;
  if (multicastUnit() == 0)
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "a device without multicast");
  *unit = multicastUnit();
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                     const CUmemAllocationProp *properties,
                     unsigned long long flags) {
  WEFT_ENTER("cuMemCreate", Needs::Context);
  if (CUresult error = refuseInCapture("cuMemCreate"))
    return error;
  if (!handle || !isOfDevice(properties) || flags)
    return CUDA_ERROR_INVALID_VALUE;
  if (!isWhole(bytes))
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "memory of " + std::to_string(bytes) +
                      " bytes, no multiple of the granularity");
  const int handleTypes = properties->requestedHandleTypes;
  if ((handleTypes & CU_MEM_HANDLE_TYPE_FABRIC) && !hasFabric())
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "a device without a fabric");
  if (!DeviceMemory::get().take(bytes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  static MemoryHandle numMade;
  *handle = ++numMade;
  memories()[*handle] = {bytes, handleTypes};
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  WEFT_ENTER("cuMemRelease", Needs::Context);
  auto memory = memories().find(handle);
  if (memory == memories().end() || !memory->second.hasHandle)
    return CUDA_ERROR_INVALID_VALUE;
  memory->second.hasHandle = false;
  dropUnused(memory);
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes,
                             size_t alignment, CUdeviceptr wanted,
                             unsigned long long flags) {
  WEFT_ENTER("cuMemAddressReserve", Needs::Context);
  if (!address || flags || wanted || alignment)
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "the emulation reserves no address that is asked for");
  if (!isWhole(bytes))
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "addresses for " + std::to_string(bytes) +
                      " bytes, no multiple of the granularity");
  *address = reinterpret_cast<CUdeviceptr>(DeviceMemory::get().reserve(bytes));
  reservations()[*address] = bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  WEFT_ENTER("cuMemAddressFree", Needs::Context);
  if (!isReserved(address, bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (findMapping(address) != memories().end())
    return refuse(CUDA_ERROR_INVALID_VALUE, "addresses with memory");
  DeviceMemory::get().free(reinterpret_cast<void *>(address));
  reservations().erase(address);
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  WEFT_ENTER("cuMemMap", Needs::Context);
  if (CUresult error = refuseInCapture("cuMemMap"))
    return error;
  auto memory = memories().find(handle);
  if (memory == memories().end() || flags || offset ||
      memory->second.bytes != bytes || memory->second.mapping)
    return CUDA_ERROR_INVALID_VALUE;
  if (!isReserved(address, bytes) || findMapping(address) != memories().end())
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "memory for addresses that are not reserved or have some");
  memory->second.mapping = address;
  return CUDA_SUCCESS;
}

/// Pending work may use the memory: a program waits for it first.
CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  WEFT_ENTER("cuMemUnmap", Needs::Context);
  if (CUresult error = refuseInCapture("cuMemUnmap"))
    return error;
  auto memory = findMapping(address);
  if (memory == memories().end() || memory->second.bytes != bytes)
    return CUDA_ERROR_INVALID_VALUE;
  runOnDevice([] { queue().finishAll(); });
  if (allocationAt(address).isAccessible)
    DeviceMemory::get().setAccessible(allocationAt(address), false);
  memory->second.mapping = 0;
  dropUnused(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes,
                        const CUmemAccessDesc *access, size_t count) {
  WEFT_ENTER("cuMemSetAccess", Needs::Context);
  auto memory = findMapping(address);
  if (!access || count != 1 || memory == memories().end() ||
      memory->second.bytes != bytes ||
      access->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      access->location.id != 0 ||
      access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
    return CUDA_ERROR_INVALID_VALUE;
  if (!allocationAt(address).isAccessible)
    DeviceMemory::get().setAccessible(allocationAt(address), true);
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// For other libraries
//===----------------------------------------------------------------------===//

int weft_emulation_is_mapped(const void *place, size_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(driverMutex());
  const Allocation *allocation = DeviceMemory::get().find(place);
  if (!allocation || !allocation->has(place))
    return 0;
  auto begin = reinterpret_cast<CUdeviceptr>(allocation->begin);
  return findMapping(begin) != memories().end() &&
         weft_emulation_has_memory(place, bytes);
}

int weft_emulation_is_exportable(const void *place) {
  std::lock_guard<std::recursive_mutex> lock(driverMutex());
  const Allocation *allocation = DeviceMemory::get().find(place);
  auto memory =
      allocation ? findMapping(reinterpret_cast<CUdeviceptr>(allocation->begin))
                 : memories().end();
  return memory != memories().end() && memory->second.handleTypes;
}

size_t weft_emulation_granularity() { return granularity(); }

size_t weft_emulation_multicast() { return multicastUnit(); }

int weft_emulation_take_memory(size_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(driverMutex());
  return DeviceMemory::get().take(bytes);
}

void weft_emulation_give_back_memory(size_t bytes) {
  DeviceMemory::get().giveBack(bytes);
}
