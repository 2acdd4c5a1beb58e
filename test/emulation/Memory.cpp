//===- Memory.cpp - Memory of the emulated device -------------------------===//

#include "Memory.h"

#include "Fail.h"
#include "Settings.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace weft::emulation {

constexpr size_t kPage = 4096, kAlignment = 256;

static size_t roundUp(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

size_t granularity() {
  static const size_t bytes =
      numberSetting("WEFT_EMULATION_GRANULARITY", kAlignment);
  if (bytes == 0 || bytes % kAlignment != 0)
    fail("expects WEFT_EMULATION_GRANULARITY to be a multiple of " +
         std::to_string(kAlignment) + ", but got " + std::to_string(bytes));
  return bytes;
}

DeviceMemory &DeviceMemory::get() {
  // Never destroyed: a program may end while work is in flight.
  static auto *memory = [] {
    size_t capacity = numberSetting("WEFT_EMULATION_MEMORY", uint64_t(1) << 30);
    size_t others = numberSetting("WEFT_EMULATION_OTHERS", 0);
    if (others > capacity)
      fail("expects WEFT_EMULATION_OTHERS to be at most " +
           std::to_string(capacity) + ", but got " + std::to_string(others));
    return new DeviceMemory(capacity, others);
  }();
  return *memory;
}

static void *map(size_t bytes, int protection) {
  void *memory = mmap(nullptr, bytes, protection,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    fail("this machine has no " + std::to_string(bytes) + " bytes left");
  return memory;
}

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

static size_t writersBytes(size_t bytes) {
  return roundUp(bytes * sizeof(uint32_t), kPage);
}

bool DeviceMemory::take(size_t bytes) {
  if (bytes > capacity - taken)
    return false;
  taken += bytes;
  return true;
}

char *DeviceMemory::allocate(size_t bytes) {
  size_t rounded = roundUp(bytes, kAlignment);
  if (bytes == 0 || rounded < bytes || !take(rounded))
    return nullptr;
  char *place = reserve(bytes);
  setAccessible(*find(place), true);
  return place;
}

char *DeviceMemory::reserve(size_t bytes) {
  size_t rounded = roundUp(bytes, kAlignment);
  Allocation allocation;
  allocation.isAccessible = false;
  size_t pages = roundUp(rounded, kPage);
  allocation.mappedBytes = pages + 2 * kPage;
  allocation.mapped =
      static_cast<char *>(map(allocation.mappedBytes, PROT_NONE));
  // The end is where the page behind begins, as far as alignment lets it.
  allocation.begin = allocation.mapped + kPage + pages - rounded;
  allocation.end = allocation.begin + bytes;
  allocation.writers =
      static_cast<uint32_t *>(map(writersBytes(bytes), PROT_READ | PROT_WRITE));
  allocations.emplace(allocation.mapped + allocation.mappedBytes, allocation);
  return allocation.begin;
}

void DeviceMemory::setAccessible(const Allocation &known, bool isAccessible) {
  auto &allocation = const_cast<Allocation &>(known);
  allocation.isAccessible = isAccessible;
  char *begin = allocation.mapped + kPage;
  size_t pages = allocation.mappedBytes - 2 * kPage;
  if (isAccessible) {
    mprotect(begin, pages, PROT_READ | PROT_WRITE);
    std::memset(begin, kPoison, pages);
    std::fill_n(allocation.writers, allocation.bytes(), kNobody);
    allocation.isAllWritten = false;
  } else {
    madvise(begin, pages, MADV_DONTNEED);
  }
  protect(allocation);
}

bool DeviceMemory::free(const void *place) {
  auto *allocation = const_cast<Allocation *>(find(place));
  if (!allocation || allocation->isFreed || allocation->begin != place)
    return false;
  if (allocation->isAccessible)
    taken -= roundUp(allocation->bytes(), kAlignment);
  allocation->isFreed = true;
  protect(*allocation);
  // The address stays taken, so that a late access is seen; the memory is not.
  madvise(allocation->mapped, allocation->mappedBytes, MADV_DONTNEED);
  munmap(allocation->writers, writersBytes(allocation->bytes()));
  return true;
}

void DeviceMemory::protect(const Allocation &allocation) {
  bool isUsable = isOpen && !allocation.isFreed && allocation.isAccessible;
  mprotect(allocation.mapped + kPage, allocation.mappedBytes - 2 * kPage,
           isUsable ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void DeviceMemory::setOpen(bool open) {
  if (open == isOpen)
    return;
  isOpen = open;
  for (auto &entry : allocations)
    if (!entry.second.isFreed)
      protect(entry.second);
}

const Allocation *DeviceMemory::find(const void *place) {
  if (last && last->isNear(place))
    return last;
  auto found = allocations.upper_bound(static_cast<const char *>(place));
  if (found == allocations.end() || !found->second.isNear(place))
    return nullptr;
  return last = &found->second;
}

const Allocation *DeviceMemory::findOfSize(size_t bytes) const {
  const Allocation *only = nullptr;
  for (const auto &entry : allocations) {
    size_t size = entry.second.bytes();
    if (entry.second.isFreed ||
        (size != bytes && size != roundUp(bytes, granularity())))
      continue;
    if (only)
      return nullptr;
    only = &entry.second;
  }
  return only;
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

std::string describePlace(const void *place) {
  const Allocation *allocation = DeviceMemory::get().find(place);
  char address[32];
  std::snprintf(address, sizeof(address), "%p", place);
  if (!allocation)
    return std::string("the address ") + address +
           ", which is no memory of "
           "the device";
  long offset = static_cast<const char *>(place) - allocation->begin;
  return "byte " + std::to_string(offset) + " of an allocation of " +
         std::to_string(allocation->bytes()) + " bytes" +
         (allocation->isFreed        ? ", which is freed"
          : allocation->isAccessible ? ""
                                     : ", which has no memory");
}

void DeviceMemory::expectRange(const void *place, size_t bytes,
                               const std::string &who) {
  const Allocation *allocation = find(place);
  if (!allocation || allocation->isFreed || !allocation->isAccessible ||
      !allocation->has(place) ||
      bytes > size_t(allocation->end - static_cast<const char *>(place)))
    fail(who + " touches " + std::to_string(bytes) + " bytes at " +
         describePlace(place));
}

void DeviceMemory::expectWritten(const void *place, size_t bytes,
                                 const std::string &who) {
  expectRange(place, bytes, who);
  const Allocation *allocation = find(place);
  size_t offset = static_cast<const char *>(place) - allocation->begin;
  const uint32_t *begin = allocation->writers + offset, *end = begin + bytes;
  const uint32_t *hole = std::find(begin, end, kNobody);
  if (hole != end)
    fail(who + " reads what nobody has written: " +
         describePlace(allocation->begin + (hole - allocation->writers)));
}

void DeviceMemory::markWritten(const void *place, size_t bytes) {
  if (const Allocation *allocation = find(place))
    std::fill_n(allocation->writers +
                    (static_cast<const char *>(place) - allocation->begin),
                bytes, kHost);
}

void DeviceMemory::markAllWritten(const Allocation &allocation) {
  if (allocation.isAllWritten)
    return;
  markWritten(allocation.begin, allocation.bytes());
  const_cast<Allocation &>(allocation).isAllWritten = true;
}

void DeviceMemory::poison(void *place, size_t bytes) {
  expectRange(place, bytes, "poison");
  auto *allocation = const_cast<Allocation *>(find(place));
  allocation->isAllWritten = false;
  std::memset(place, kPoison, bytes);
  std::fill_n(allocation->writers +
                  (static_cast<const char *>(place) - allocation->begin),
              bytes, kNobody);
}

void DeviceMemory::copyMarks(const void *to, const void *from, size_t bytes) {
  const Allocation *source = find(from);
  auto *target = const_cast<Allocation *>(find(to));
  target->isAllWritten = target->isAllWritten && source->isAllWritten;
  std::memmove(
      target->writers + (static_cast<const char *>(to) - target->begin),
      source->writers + (static_cast<const char *>(from) - source->begin),
      bytes * sizeof(uint32_t));
}

} // namespace weft::emulation
