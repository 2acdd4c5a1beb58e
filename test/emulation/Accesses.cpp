//===- Accesses.cpp - Checks of what kernels read and write ---------------===//

#include "Fail.h"
#include "Memory.h"

#include <cstring>
#include <vector>

namespace weft::emulation {

static uint32_t launch;

void beginLaunch() { ++launch; }

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

static void checkBlocks(const Allocation &allocation, size_t offset,
                        size_t bytes, bool isStore) {
  uint32_t block = currentMoment().block;
  uint64_t mine = uint64_t(launch) << 32 | block;
  for (size_t i = offset; i < offset + bytes; ++i) {
    uint64_t &stored = allocation.stored[i];
    if (stored >> 32 == launch && stored != mine)
      fail(std::string("blocks ") + std::to_string(uint32_t(stored)) + " and " +
           std::to_string(block) +
           (isStore ? " store to one place: "
                    : " store to and read from one place: ") +
           describePlace(allocation.begin + i));
    if (isStore)
      stored = mine;
  }
}

static std::string threadText() {
  Moment moment = currentMoment();
  return "thread " + std::to_string(moment.thread) + " of block " +
         std::to_string(moment.block);
}

static void checkGlobal(const Allocation &allocation, const void *place,
                        size_t bytes, bool isStore) {
  DeviceMemory &memory = DeviceMemory::get();
  if (allocation.isFreed || !allocation.has(place) ||
      bytes > size_t(allocation.end - static_cast<const char *>(place)))
    memory.expectRange(place, bytes, threadText());
  size_t offset = static_cast<const char *>(place) - allocation.begin;
  if (isStore)
    std::memset(allocation.written + offset, 1, bytes);
  else if (std::memchr(allocation.written + offset, 0, bytes))
    memory.expectWritten(place, bytes, threadText());
  checkBlocks(allocation, offset, bytes, isStore);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

namespace {
/// Who has used a byte of shared memory, and after how many meetings of the
/// block and of the warp.
struct SharedByte {
  uint32_t writeEpoch = 0, writeWarpEpoch = 0;
  uint32_t readEpoch = 0, readWarpEpoch = 0;
  uint16_t writer = 0, reader = 0;
  bool hasMoreReaders = false; // of the reader's warp, in its epoch
  bool hasOtherWarps = false;  // some reader is not of the reader's warp

  bool isOrdered(uint32_t thread, uint32_t warpEpoch, const Moment &now) const {
    return thread == now.thread ||
           (thread / kWarp == now.warp && warpEpoch != now.warpEpoch);
  }
  /// The other thread, if nothing orders its write before `now`.
  const uint16_t *racingWriter(const Moment &now) const {
    bool races =
        writeEpoch == now.blockEpoch && !isOrdered(writer, writeWarpEpoch, now);
    return races ? &writer : nullptr;
  }
  const uint16_t *racingReader(const Moment &now) const {
    if (readEpoch != now.blockEpoch)
      return nullptr;
    bool sameEpoch =
        reader / kWarp == now.warp && readWarpEpoch == now.warpEpoch;
    bool races = hasOtherWarps || !isOrdered(reader, readWarpEpoch, now) ||
                 (sameEpoch && hasMoreReaders);
    return races ? &reader : nullptr;
  }
  void addReader(const Moment &now);
};
} // namespace

void SharedByte::addReader(const Moment &now) {
  bool isNew = readEpoch != now.blockEpoch;
  bool sameWarp = !isNew && reader / kWarp == now.warp;
  bool sameEpoch = sameWarp && readWarpEpoch == now.warpEpoch;
  hasMoreReaders = sameEpoch && (hasMoreReaders || reader != now.thread);
  hasOtherWarps = !isNew && (hasOtherWarps || !sameWarp);
  readEpoch = now.blockEpoch;
  readWarpEpoch = now.warpEpoch;
  reader = uint16_t(now.thread);
}

static void checkSharedByte(SharedByte &byte, const Moment &now, bool isStore,
                            size_t offset) {
  const uint16_t *other = byte.racingWriter(now);
  if (!other && isStore)
    other = byte.racingReader(now);
  if (other)
    fail("threads " + std::to_string(*other) + " and " +
         std::to_string(now.thread) + " of block " + std::to_string(now.block) +
         " use byte " + std::to_string(offset) +
         " of shared memory, one of them writes, and no barrier is between "
         "them");
  if (!isStore && byte.writeEpoch < now.firstEpoch)
    fail(threadText() + " reads what nobody has written: byte " +
         std::to_string(offset) + " of shared memory");
  if (!isStore)
    return byte.addReader(now);
  byte.writeEpoch = now.blockEpoch;
  byte.writeWarpEpoch = now.warpEpoch;
  byte.writer = uint16_t(now.thread);
}

/// Of the block's dynamic and static memory.
static void checkShared(const Bytes &memory, bool isStatic, const void *place,
                        size_t bytes, bool isStore) {
  static std::vector<SharedByte> kinds[2];
  std::vector<SharedByte> &used = kinds[isStatic];
  size_t size = memory.end - memory.begin;
  size_t offset = static_cast<const char *>(place) - memory.begin;
  if (bytes > size - offset)
    fail(threadText() + " touches " + std::to_string(bytes) +
         " bytes at byte " + std::to_string(offset) + " of " +
         std::to_string(size) + " bytes of shared memory");
  if (used.size() < size)
    used.resize(size);
  Moment now = currentMoment();
  for (size_t i = offset; i < offset + bytes; ++i)
    checkSharedByte(used[i], now, isStore, i);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// A device has vectors of up to 16 bytes, at multiples of their size.
static void checkAlignment(const void *place, size_t bytes) {
  if (bytes > 16 || (bytes & (bytes - 1)) != 0 ||
      reinterpret_cast<uintptr_t>(place) % bytes == 0)
    return;
  fail(threadText() + " touches " + std::to_string(bytes) +
       " bytes at once at " + describePlace(place) +
       ", no multiple of that size");
}

/// False if it is memory of another kind.
static bool checkDeviceAccess(const void *place, size_t bytes, bool isStore) {
  if (isOnStack(place))
    return true;
  if (const Allocation *allocation = DeviceMemory::get().find(place)) {
    checkAlignment(place, bytes);
    checkGlobal(*allocation, place, bytes, isStore);
    return true;
  }
  for (bool isStatic : {false, true}) {
    Bytes memory = isStatic ? staticShared() : dynamicShared();
    if (!memory.has(place))
      continue;
    checkAlignment(place, bytes);
    checkShared(memory, isStatic, place, bytes, isStore);
    return true;
  }
  if (sharedRoom().has(place))
    fail(threadText() + " touches shared memory beyond the " +
         std::to_string(dynamicShared().end - dynamicShared().begin) +
         " bytes of the launch");
  return false;
}

static void checkAccess(const void *place, size_t bytes, bool isStore) {
  if (!checkDeviceAccess(place, bytes, isStore) && !isConstant(place, isStore))
    fail(threadText() + " touches " + describePlace(place));
}

} // namespace weft::emulation

using namespace weft::emulation;

void weft_emu_load(const void *place, uint64_t bytes) {
  checkAccess(place, bytes, /*isStore=*/false);
}

void weft_emu_store(const void *place, uint64_t bytes) {
  checkAccess(place, bytes, /*isStore=*/true);
}

//===----------------------------------------------------------------------===//
// Hand-written kernels
//===----------------------------------------------------------------------===//

// -fsanitize-coverage=func,trace-loads,trace-stores makes a compiler for this
// machine tell most accesses as well; those of structs that it copies whole it
// does not, so a library made so is not `isChecked`. What such a kernel keeps
// in memory of the host, as a part of its own emulation, is none of the
// device's.
#define WEFT_TRACED(bytes)                                                     \
  extern "C" void __sanitizer_cov_load##bytes(const void *place) {             \
    if (isInGrid())                                                            \
      checkDeviceAccess(place, bytes, false);                                  \
  }                                                                            \
  extern "C" void __sanitizer_cov_store##bytes(const void *place) {            \
    if (isInGrid())                                                            \
      checkDeviceAccess(place, bytes, true);                                   \
  }
WEFT_TRACED(1)
WEFT_TRACED(2)
WEFT_TRACED(4)
WEFT_TRACED(8)
WEFT_TRACED(16)
