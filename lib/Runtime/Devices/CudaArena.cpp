//===- CudaArena.cpp - Memory of a device by mapping ----------------------===//

#include "weft/Runtime/Devices/CudaDriver.h"

#include "weft/Runtime/Devices/CudaDevice.h"

#include <algorithm>
#include <numeric>

using namespace weft;

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

static Expected<bool> supports(const CudaCalls &cuda, CUdevice device,
                               CUdevice_attribute attribute) {
  int value = 0;
  const CUresult result =
      cuda.driver().cuDeviceGetAttribute(&value, attribute, device);
  // A driver that does not know the attribute has no such feature.
  if (result == CUDA_ERROR_INVALID_VALUE)
    return false;
  if (result != CUDA_SUCCESS)
    return cuda.failure("cuDeviceGetAttribute", result);
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
  if (!*hasMulticast || !cuda.driver().cuMulticastGetGranularity)
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

//===- Memory of a device -------------------------------------------------===//

// The driver tells free and total bytes, and only in a context. The first look
// finds the memory of the context and other programs. From then on free memory
// that disappears while this program loads code, makes streams, opens libraries
// and connects ranks counts as its own.

Status CudaDevice::measureMemory(bool isOwn) {
  size_t free = 0, total = 0;
  if (Status s = cuda.cuMemGetInfo_v2(&free, &total); !s)
    return s;
  if (memory.total == 0)
    memory.before = total - std::min(free, total);
  else if (isOwn && free < memory.free)
    memory.own += memory.free - free;
  memory.free = free;
  memory.total = total;
  return Status::success();
}

std::string CudaDevice::describeMemory() const {
  return "arena " + humanBytes(allBytes) + ", outside it " +
         humanBytes(int64_t(memory.own)) + " of this program and " +
         humanBytes(int64_t(memory.before)) +
         " of the context and other programs";
}

Error CudaDevice::tooLittle(const std::string &what) const {
  const int ranks = options.ranksOfProcess;
  const std::string who =
      ranks == 1 ? "the program needs "
                 : std::to_string(ranks) + " ranks of the program need ";
  // Memory of a later rank may be held by earlier ones.
  const bool isTaken =
      uint64_t(neededBytes()) <= memory.total && options.rank == 0;
  return memoryError(what, who, humanBytes(neededBytes()), ", but ",
                     chip.device, " has ", humanBytes(int64_t(memory.free)),
                     " free of ", humanBytes(int64_t(memory.total)), ": ",
                     describeMemory())
      .hint((isTaken ? "other processes use memory of the device (nvidia-smi "
                       "lists them): end them, choose another device with "
                       "CUDA_VISIBLE_DEVICES, or "
                     : "") +
            std::string("compile with a smaller --batch or --seq"));
}

/// Before any byte of data is read.
Status CudaDevice::checkMemory() const {
  if (uint64_t(neededBytes()) <= memory.free)
    return Status::success();
  return tooLittle("");
}

/// Where the constants begin.
int64_t CudaDevice::constantsOffset() const {
  return alignConstant(executable.arenaBytes);
}

/// With the constants behind it. Another process may have been faster.
Status CudaDevice::allocateArena() {
  if (Status s = measureMemory(/*isOwn=*/true); !s)
    return s;
  const bool isShared = options.ranksAreProcesses && options.ranks > 1;
  auto made = CudaArena::make(cuda, device, allBytes, isShared);
  if (made) {
    arena = std::move(*made);
    return measureMemory(/*isOwn=*/false);
  }
  Error error = made.takeError();
  if (error.code() != ExitCode::DoesNotFit || !measureMemory(/*isOwn=*/true))
    return error;
  return tooLittle(error.message() + ": ");
}

/// The channels of communicators are made after the arena.
Error CudaDevice::withoutMemoryForRanks(Error error) {
  if (error.code() != ExitCode::DoesNotFit || !measureMemory(/*isOwn=*/true))
    return error;
  return memoryError(error.message(), ": ", chip.device, " has ",
                     humanBytes(int64_t(memory.free)), " free of ",
                     humanBytes(int64_t(memory.total)), ": ", describeMemory())
      .hint("compile with a smaller --batch or --seq, or with --device or "
            "--memory-limit, which reserve memory for NCCL");
}

Json CudaDevice::observations() const {
  Json seen = Json::object();
  seen.set("memory_bytes", int64_t(memory.total));
  seen.set("memory_before_bytes", int64_t(memory.before));
  seen.set("arena_bytes", int64_t(arena.size()));
  seen.set("outside_arena_bytes", int64_t(memory.own));
  for (const auto &[name, text] : attentionFacts)
    seen.set(name, text);
  if (!cpus.empty())
    seen.set("cpus", cpus);
  if (ranks)
    for (const auto &[name, text] : ranks->facts())
      seen.set(name, text);
  return seen;
}
