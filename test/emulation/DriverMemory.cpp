//===- DriverMemory.cpp - Memory and copies of the emulated driver --------===//

#include "Driver.h"
#include "Fail.h"
#include "Memory.h"
#include "weft/Formats/Digest.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

namespace weft::emulation {

static char *placeOf(CUdeviceptr address) {
  return reinterpret_cast<char *>(address);
}

static bool hasRange(CUdeviceptr address, size_t bytes) {
  const Allocation *allocation = DeviceMemory::get().find(placeOf(address));
  return allocation && !allocation->isFreed && allocation->isAccessible &&
         allocation->has(placeOf(address)) &&
         bytes <= size_t(allocation->end - placeOf(address));
}

//===----------------------------------------------------------------------===//
// Memory of the host
//===----------------------------------------------------------------------===//

/// Pinned memory: its size by its begin.
static std::map<char *, size_t> &pinned() {
  static auto *all = new std::map<char *, size_t>;
  return *all;
}

static bool isPinned(const void *place, size_t bytes) {
  auto *begin = static_cast<char *>(const_cast<void *>(place));
  auto next = pinned().upper_bound(begin);
  if (next == pinned().begin())
    return false;
  auto [allocation, size] = *std::prev(next);
  if (begin >= allocation + size)
    return false;
  if (bytes > size_t(allocation + size - begin))
    fail("a copy goes beyond the end of pinned memory of " +
         std::to_string(size) + " bytes");
  return true;
}

namespace {
/// A part of the host's memory that a copy in flight reads or writes.
struct HostUse {
  const char *begin, *end;
  bool isWrite;
  std::shared_ptr<bool> isDone;
};
} // namespace

static std::vector<HostUse> &hostUses() {
  static auto *uses = new std::vector<HostUse>;
  return *uses;
}

static bool isUsed(const void *place, size_t bytes, bool isWrite) {
  auto &uses = hostUses();
  uses.erase(std::remove_if(uses.begin(), uses.end(),
                            [](const HostUse &use) { return *use.isDone; }),
             uses.end());
  auto *begin = static_cast<const char *>(place);
  return std::any_of(uses.begin(), uses.end(), [&](const HostUse &use) {
    return use.isWrite == isWrite && use.begin < begin + bytes &&
           begin < use.end;
  });
}

static std::shared_ptr<bool> addUse(const void *place, size_t bytes,
                                    bool isWrite) {
  auto *begin = static_cast<const char *>(place);
  auto isDone = std::make_shared<bool>(false);
  hostUses().push_back({begin, begin + bytes, isWrite, isDone});
  return isDone;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static void writeDevice(CUdeviceptr to, const void *from, size_t bytes) {
  DeviceMemory::get().expectRange(placeOf(to), bytes, "a copy to the device");
  std::memcpy(placeOf(to), from, bytes);
  DeviceMemory::get().markWritten(placeOf(to), bytes);
}

/// From pinned memory: read when the copy is made, and it must be then what it
/// is now.
static std::function<void()>
preparePinnedUpload(CUdeviceptr to, const void *from, size_t bytes) {
  bool isKnown = !isUsed(from, bytes, /*isWrite=*/true);
  uint64_t digest = isKnown ? digest64(from, bytes) : 0;
  std::shared_ptr<bool> isDone = addUse(from, bytes, /*isWrite=*/false);
  return [=] {
    if (isKnown && digest64(from, bytes) != digest)
      fail("a copy to the device reads memory of the host that has changed "
           "since it was enqueued");
    writeDevice(to, from, bytes);
    *isDone = true;
  };
}

/// Other memory is read at once.
static std::function<void()> prepareUpload(CUdeviceptr to, const void *from,
                                           size_t bytes) {
  if (isPinned(from, bytes))
    return preparePinnedUpload(to, from, bytes);
  auto *begin = static_cast<const char *>(from);
  auto kept = std::make_shared<std::vector<char>>(begin, begin + bytes);
  return [=] { writeDevice(to, kept->data(), bytes); };
}

/// Until the copy is made, pinned memory holds what nobody should read.
static std::function<void()> prepareDownload(void *to, CUdeviceptr from,
                                             size_t bytes) {
  if (isPinned(to, bytes) && !isUsed(to, bytes, /*isWrite=*/false))
    std::memset(to, kPoison, bytes);
  std::shared_ptr<bool> isDone = addUse(to, bytes, /*isWrite=*/true);
  return [=] {
    DeviceMemory::get().expectRange(placeOf(from), bytes, "a copy to the host");
    std::memcpy(to, placeOf(from), bytes);
    *isDone = true;
  };
}

static void copyOnDevice(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  DeviceMemory &memory = DeviceMemory::get();
  memory.expectRange(placeOf(to), bytes, "a copy on the device");
  memory.expectRange(placeOf(from), bytes, "a copy on the device");
  std::memcpy(placeOf(to), placeOf(from), bytes);
  memory.copyMarks(placeOf(to), placeOf(from), bytes);
}

static void fillDevice(CUdeviceptr to, unsigned char byte, size_t bytes) {
  DeviceMemory::get().expectRange(placeOf(to), bytes, "a fill");
  std::memset(placeOf(to), byte, bytes);
  DeviceMemory::get().markWritten(placeOf(to), bytes);
}

} // namespace weft::emulation

using namespace weft::emulation;

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

CUresult cuMemGetInfo(size_t *free, size_t *total) {
  WEFT_ENTER("cuMemGetInfo_v2", Needs::Context);
  *total = DeviceMemory::get().total();
  *free = *total - DeviceMemory::get().used();
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  WEFT_ENTER("cuMemAlloc_v2", Needs::Context);
  if (CUresult error = refuseInCapture("cuMemAlloc_v2"))
    return error;
  if (!address || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  char *place = DeviceMemory::get().allocate(bytes);
  if (!place)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(place);
  return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr address) {
  WEFT_ENTER("cuMemFree_v2", Needs::Context);
  if (CUresult error = refuseInCapture("cuMemFree_v2"))
    return error;
  runOnDevice([] { queue().finishAll(); });
  if (address && !DeviceMemory::get().free(placeOf(address)))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult cuMemAllocHost(void **place, size_t bytes) {
  WEFT_ENTER("cuMemAllocHost_v2", Needs::Context);
  if (CUresult error = refuseInCapture("cuMemAllocHost_v2"))
    return error;
  if (!place || bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  *place = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!*place)
    return CUDA_ERROR_OUT_OF_MEMORY;
  std::memset(*place, kPoison, bytes);
  pinned()[static_cast<char *>(*place)] = bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *place) {
  WEFT_ENTER("cuMemFreeHost", Needs::Context);
  if (CUresult error = refuseInCapture("cuMemFreeHost"))
    return error;
  runOnDevice([] { queue().finishAll(); });
  if (!pinned().erase(static_cast<char *>(place)))
    return CUDA_ERROR_INVALID_VALUE;
  std::free(place);
  return CUDA_SUCCESS;
}

int weft_emulation_has_memory(const void *place, size_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(driverMutex());
  return hasRange(reinterpret_cast<CUdeviceptr>(place), bytes);
}

CUresult weft_emulation_poison(size_t allocation, size_t offset, size_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(driverMutex());
  const Allocation *memory = DeviceMemory::get().findOfSize(allocation);
  Stream *stream = firstStream();
  if (!memory || !stream || bytes > allocation || offset > allocation - bytes)
    return CUDA_ERROR_INVALID_VALUE;
  char *place = memory->begin + offset;
  return enqueueWork(*stream,
                     [=] { DeviceMemory::get().poison(place, bytes); });
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                           CUstream handle) {
  WEFT_ENTER("cuMemcpyHtoDAsync_v2", Needs::Context);
  Stream *stream = findStream(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (bytes == 0)
    return CUDA_SUCCESS;
  if (!from || !hasRange(to, bytes))
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "a copy to " + describePlace(placeOf(to)));
  return enqueue(*stream, [=] { return prepareUpload(to, from, bytes); });
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes,
                           CUstream handle) {
  WEFT_ENTER("cuMemcpyDtoHAsync_v2", Needs::Context);
  Stream *stream = findStream(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (bytes == 0)
    return CUDA_SUCCESS;
  if (!to || !hasRange(from, bytes))
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "a copy from " + describePlace(placeOf(from)));
  CUresult error =
      enqueue(*stream, [=] { return prepareDownload(to, from, bytes); });
  if (error || stream->capture || isPinned(to, bytes))
    return error;
  // To other memory a copy is made before the call returns.
  return finishStream(*stream);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                           CUstream handle) {
  WEFT_ENTER("cuMemcpyDtoDAsync_v2", Needs::Context);
  Stream *stream = findStream(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (bytes == 0)
    return CUDA_SUCCESS;
  if (!hasRange(to, bytes) || !hasRange(from, bytes))
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "a copy from " + describePlace(placeOf(from)) + " to " +
                      describePlace(placeOf(to)));
  if (to < from + bytes && from < to + bytes)
    return refuse(CUDA_ERROR_INVALID_VALUE, "a copy onto what it reads");
  return enqueueWork(*stream, [=] { copyOnDevice(to, from, bytes); });
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char byte, size_t bytes,
                         CUstream handle) {
  WEFT_ENTER("cuMemsetD8Async", Needs::Context);
  Stream *stream = findStream(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (bytes == 0)
    return CUDA_SUCCESS;
  if (!hasRange(to, bytes))
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "a fill of " + describePlace(placeOf(to)));
  return enqueueWork(*stream, [=] { fillDevice(to, byte, bytes); });
}
