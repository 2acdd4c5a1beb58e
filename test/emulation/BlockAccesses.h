//===- BlockAccesses.h - Accesses of threads to global memory ---*- C++ -*-===//

#ifndef WEFT_TEST_EMULATION_BLOCKACCESSES_H
#define WEFT_TEST_EMULATION_BLOCKACCESSES_H

#include "AccessedPart.h"

#include <algorithm>
#include <vector>

namespace weft::emulation {

/// The running block's accesses to global memory: a hash table of units as
/// large as the smallest access of the launch so far.
class BlockAccesses {
public:
  void beginLaunch() { unit = kWidest; }

  /// Calls `touch` with the state of each part of an access, and its place.
  template <typename Touch>
  void visit(const char *place, size_t bytes, const Moment &now,
             const Touch &touch) {
    auto begin = reinterpret_cast<uintptr_t>(place);
    if (block != now.firstEpoch) {
      block = now.firstEpoch;
      forget();
    }
    while ((begin | bytes) % unit != 0)
      halveUnit();
    for (size_t i = 0; i < bytes; i += unit)
      touch(find((begin + i) / unit), place + i);
  }

private:
  static constexpr size_t kWidest = 16, kNeighbours = 16, kFirstSize = 4096;

  struct Entry {
    uintptr_t number;        // of the unit
    uint32_t generation = 0; // older ones are free
    AccessedPart part;
  };

  void forget() {
    ++generation;
    used.clear();
  }

  AccessedPart &find(uintptr_t number) {
    if (2 * used.size() >= entries.size())
      rebuild(std::max(2 * entries.size(), kFirstSize), 1);
    uint32_t slot = slotOf(number);
    Entry &entry = entries[slot];
    if (entry.generation != generation) {
      entry = {number, generation, {}};
      used.push_back(slot);
    }
    return entry.part;
  }

  /// The unit's entry, or a free one for it. Neighbours lie side by side.
  uint32_t slotOf(uintptr_t number) const {
    uint64_t hash = number / kNeighbours * 0x9e3779b97f4a7c15u >> 32;
    size_t slot = hash * kNeighbours + number % kNeighbours;
    for (;; ++slot) {
      slot &= entries.size() - 1;
      const Entry &entry = entries[slot];
      if (entry.generation != generation || entry.number == number)
        return uint32_t(slot);
    }
  }

  void halveUnit() {
    unit /= 2;
    rebuild(entries.size(), 2);
  }

  /// In a table of that size, each entry as so many units.
  void rebuild(size_t size, size_t parts) {
    std::vector<Entry> old;
    for (uint32_t slot : used)
      old.push_back(entries[slot]);
    entries.resize(size);
    forget();
    for (const Entry &entry : old)
      for (size_t i = 0; i < parts; ++i)
        find(entry.number * parts + i) = entry.part;
  }

  std::vector<Entry> entries; // a power of two
  std::vector<uint32_t> used; // slots
  size_t unit = kWidest;
  uint32_t block = 0, generation = 0;
};

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_BLOCKACCESSES_H
