//===- Block.h - Blocks of threads as fibers --------------------*- C++ -*-===//
//
// A grid runs block by block; the threads of a block are fibers that take turns
// where they wait for each other. An Order chooses the block and the thread
// that run next. Threads that wait for one that never comes, or meet at
// different places, are errors (Fail.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_EMULATION_BLOCK_H
#define WEFT_TEST_EMULATION_BLOCK_H

#include "Emulation.h"
#include "Order.h"

#include <cstddef>
#include <functional>

namespace weft::emulation {

constexpr unsigned kWarp = 32, kMaxThreads = 1024;
constexpr size_t kMaxSharedBytes = 227 << 10; // of a block of sm_90

struct Grid {
  unsigned blocks[3] = {1, 1, 1}, threads[3] = {1, 1, 1};
  size_t sharedBytes = 0; // dynamic
  /// Static shared memory, which each block finds as it would on a device:
  /// full of what nobody should read.
  char *sharedBegin = nullptr, *sharedEnd = nullptr;
};

/// Runs `thread` once for each thread of the grid. One grid at a time.
void runGrid(const Grid &grid, const std::function<void()> &thread,
             Order &order);

/// Every byte of memory that nobody has written yet: a NaN in every format.
constexpr unsigned char kPoison = 0xff;

//===----------------------------------------------------------------------===//
// Inside of a thread
//===----------------------------------------------------------------------===//

inline unsigned threadIndex(int dim) { return weft_emu_place()->thread[dim]; }
inline unsigned blockIndex(int dim) { return weft_emu_place()->block[dim]; }
inline unsigned blockSize(int dim) { return weft_emu_place()->threads[dim]; }
inline unsigned gridSize(int dim) { return weft_emu_place()->blocks[dim]; }
inline unsigned laneIndex() { return weft_emu_place()->lane; }

constexpr uint32_t kAllLanes = ~0u;

inline void barrier(int site = __builtin_LINE()) {
  weft_emu_barrier(0, 0, site);
}
inline void namedBarrier(unsigned id, unsigned threads,
                         int site = __builtin_LINE()) {
  weft_emu_barrier(id, threads, site);
}
inline void warpBarrier(uint32_t mask = kAllLanes,
                        int site = __builtin_LINE()) {
  weft_emu_warp_barrier(mask, site);
}
inline uint32_t shuffle(WeftEmuShuffle kind, uint32_t value, unsigned lane,
                        unsigned clamp = 31, uint32_t mask = kAllLanes,
                        int site = __builtin_LINE()) {
  return weft_emu_shuffle(kind, mask, value, lane, clamp, site);
}
inline void *sharedMemory() { return weft_emu_shared(); }

//===----------------------------------------------------------------------===//
// For the checks of memory
//===----------------------------------------------------------------------===//

/// The thread that runs, and how often threads have met: in the block since the
/// process began, in the warp since the block met. `firstEpoch`: when it began.
struct Moment {
  uint32_t block, thread, warp, firstEpoch, blockEpoch, warpEpoch;
};
/// False outside of a grid.
bool isInGrid();
Moment currentMoment();
/// Whether a place is on the stack of a thread of the block.
bool isOnStack(const void *place);
struct Bytes {
  char *begin = nullptr, *end = nullptr;
  bool has(const void *place) const { return place >= begin && place < end; }
};
/// Of the running grid.
Bytes dynamicShared();
Bytes staticShared();
/// All that a grid may ask for.
Bytes sharedRoom();

} // namespace weft::emulation

#endif // WEFT_TEST_EMULATION_BLOCK_H
