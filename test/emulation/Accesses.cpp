//===- Accesses.cpp - Checks of what kernels read and write ---------------===//

#include "BlockAccesses.h"
#include "Fail.h"
#include "Memory.h"
#include "Scheduler.h"
#include "SharedAccesses.h"

#include <algorithm>

namespace weft::emulation {

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Numbers of blocks (Allocation::writers): the first one of this launch has
/// `firstWriter`, and no block has had one above `lastWriter`.
static uint32_t firstWriter = kHost + 1, lastWriter = kHost;
/// Of dynamic and of static shared memory.
static SharedAccesses shared[2];
static BlockAccesses global;

void beginLaunch() {
  firstWriter = lastWriter + 1;
  for (SharedAccesses &kind : shared)
    kind.beginLaunch();
  global.beginLaunch();
}

static std::string threadText() {
  Moment moment = currentMoment();
  return "thread " + std::to_string(moment.thread) + " of block " +
         std::to_string(moment.block);
}

/// Threads of one block on one place, which `describe` names.
template <typename Describe>
static void checkRace(const AccessedPart &part, const Moment &now, bool isStore,
                      const Describe &describe) {
  if (const uint16_t *other = part.findRace(now, isStore))
    fail("threads " + std::to_string(*other) + " and " +
         std::to_string(now.thread) + " of block " + std::to_string(now.block) +
         " use " + describe() +
         ", one of them writes, and no barrier is between them");
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// Whether a byte of a load or a store is wrong, by who has written it.
template <bool isStore> static bool isWrong(uint32_t writer, uint32_t mine) {
  bool isOther = (writer >= firstWriter) & (writer != mine);
  return isOther | (!isStore & (writer == kNobody));
}

template <bool isStore, size_t bytes>
static bool checkBytes(uint32_t *writers, uint32_t mine) {
  bool wrong = false;
  for (size_t i = 0; i < bytes; ++i)
    wrong |= isWrong<isStore>(writers[i], mine);
  if (isStore && !wrong)
    for (size_t i = 0; i < bytes; ++i)
      writers[i] = mine;
  return wrong;
}

/// Gives whether something is wrong, and notes a store if not.
template <bool isStore>
static bool checkWriters(uint32_t *writers, size_t bytes, uint32_t mine) {
  switch (bytes) {
  case 2:
    return checkBytes<isStore, 2>(writers, mine);
  case 4:
    return checkBytes<isStore, 4>(writers, mine);
  case 8:
    return checkBytes<isStore, 8>(writers, mine);
  case 16:
    return checkBytes<isStore, 16>(writers, mine);
  }
  for (size_t i = 0; i < bytes; ++i)
    if (checkBytes<isStore, 1>(writers + i, mine))
      return true;
  return false;
}

[[noreturn]] static void failAt(const Allocation &allocation, size_t offset,
                                size_t bytes, bool isStore) {
  const uint32_t *writers = allocation.writers, block = currentMoment().block;
  for (size_t i = offset; i < offset + bytes; ++i)
    if (writers[i] >= firstWriter && writers[i] != firstWriter + block)
      fail("blocks " + std::to_string(writers[i] - firstWriter) + " and " +
           std::to_string(block) +
           (isStore ? " store to one place: "
                    : " store to and read from one place: ") +
           describePlace(allocation.begin + i));
  DeviceMemory::get().expectWritten(allocation.begin + offset, bytes,
                                    threadText());
  fail("has lost what it knows of its memory");
}

static void checkThreads(const void *place, size_t bytes, bool isStore) {
  Moment now = currentMoment();
  global.visit(static_cast<const char *>(place), bytes, now,
               [&](AccessedPart &part, const char *at) {
                 checkRace(part, now, isStore,
                           [&] { return describePlace(at); });
                 isStore ? part.addWriter(now) : part.addReader(now);
               });
}

static void checkGlobal(const Allocation &allocation, const void *place,
                        size_t bytes, bool isStore) {
  if (allocation.isFreed || !allocation.has(place) ||
      bytes > size_t(allocation.end - static_cast<const char *>(place)))
    DeviceMemory::get().expectRange(place, bytes, threadText());
  size_t offset = static_cast<const char *>(place) - allocation.begin;
  uint32_t *writers = allocation.writers + offset;
  uint32_t mine = firstWriter + Scheduler::get().block();
  if (mine < firstWriter)
    fail("has run more blocks than it has numbers for");
  if (isStore ? checkWriters<true>(writers, bytes, mine)
              : checkWriters<false>(writers, bytes, mine))
    failAt(allocation, offset, bytes, isStore);
  checkThreads(place, bytes, isStore);
  if (isStore)
    lastWriter = std::max(lastWriter, mine);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

static void checkSharedPart(AccessedPart &part, const Moment &now, bool isStore,
                            size_t offset) {
  auto describe = [&] {
    return "byte " + std::to_string(offset) + " of shared memory";
  };
  checkRace(part, now, isStore, describe);
  if (isStore)
    return part.addWriter(now);
  if (!part.isWritten(now))
    fail(threadText() + " reads what nobody has written: " + describe());
  part.addReader(now);
}

static void checkShared(const Bytes &memory, bool isStatic, const void *place,
                        size_t bytes, bool isStore) {
  size_t size = memory.end - memory.begin;
  size_t offset = static_cast<const char *>(place) - memory.begin;
  if (bytes > size - offset)
    fail(threadText() + " touches " + std::to_string(bytes) +
         " bytes at byte " + std::to_string(offset) + " of " +
         std::to_string(size) + " bytes of shared memory");
  shared[isStatic].reserve(size);
  Moment now = currentMoment();
  shared[isStatic].visit(offset, bytes, [&](AccessedPart &part, size_t at) {
    checkSharedPart(part, now, isStore, at);
  });
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// A device has vectors of up to 16 bytes, at multiples of their size.
static void checkAlignment(const void *place, size_t bytes) {
  if (bytes > 16 || (bytes & (bytes - 1)) != 0 ||
      (reinterpret_cast<uintptr_t>(place) & (bytes - 1)) == 0)
    return;
  fail(threadText() + " touches " + std::to_string(bytes) +
       " bytes at once at " + describePlace(place) +
       ", no multiple of that size");
}

static void checkDynamic(const void *place, size_t bytes, bool isStore) {
  Bytes memory = dynamicShared();
  if (!memory.has(place))
    fail(threadText() + " touches shared memory beyond the " +
         std::to_string(memory.end - memory.begin) + " bytes of the launch");
  checkShared(memory, /*isStatic=*/false, place, bytes, isStore);
}

static void checkAccess(const void *place, size_t bytes, bool isStore) {
  static const Allocation *last; // allocations are never forgotten
  if (bytes == 0)
    return;
  if (sharedRoom().has(place)) {
    checkAlignment(place, bytes);
    return checkDynamic(place, bytes, isStore);
  }
  if (last && last->has(place)) {
    checkAlignment(place, bytes);
    return checkGlobal(*last, place, bytes, isStore);
  }
  if (isOnStack(place))
    return;
  if (staticShared().has(place)) {
    checkAlignment(place, bytes);
    return checkShared(staticShared(), /*isStatic=*/true, place, bytes,
                       isStore);
  }
  if (const Allocation *allocation = DeviceMemory::get().find(place)) {
    last = allocation;
    checkAlignment(place, bytes);
    return checkGlobal(*allocation, place, bytes, isStore);
  }
  if (!isConstant(place, isStore))
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
