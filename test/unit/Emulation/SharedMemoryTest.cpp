//===- SharedMemoryTest.cpp - Parts of shared memory, and copies to it ----===//

#include "Running.h"

#include <cmath>

namespace weft::emulation {
namespace {

//===----------------------------------------------------------------------===//
// Parts of a word
//===----------------------------------------------------------------------===//

/// A thread for each byte, then a thread for all of them.
TEST(SharedMemory, BytesAndWords) {
  Grid grid = blockOf(32);
  grid.sharedBytes = 64;
  auto *bytes = static_cast<char *>(sharedMemory());
  auto fill = [&](bool hasBarrier) {
    weft_emu_store(bytes + threadIndex(0), 1);
    if (hasBarrier)
      barrier();
    if (threadIndex(0) == 0)
      weft_emu_load(bytes, 16);
  };
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    launch(grid, [&] { fill(true); }, seed);
  EXPECT_ERROR(for (uint64_t seed = 1; seed < kSeeds; ++seed) launch(
                   grid, [&] { fill(false); }, seed),
               "thread|threads");
  EXPECT_ERROR(
      launch(grid,
             [&] {
               weft_emu_store(bytes + 2 * threadIndex(0), 1);
               barrier();
               weft_emu_load(bytes, 4);
             }),
      "thread .* reads what nobody has written: byte 1 of shared memory");
}

//===----------------------------------------------------------------------===//
// Copies to shared memory
//===----------------------------------------------------------------------===//

TEST(Copies, AreMadeWhenTheirThreadWaits) {
  Grid grid = blockOf(32);
  grid.sharedBytes = 1024;
  float *from = allocateWritten(128);
  for (int i = 0; i < 128; ++i)
    from[i] = float(i);
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    launch(
        grid,
        [&] {
          auto *own = static_cast<float *>(sharedMemory()) + 8 * threadIndex(0);
          weft_emu_begin_copy(own, from + 4 * threadIndex(0));
          weft_emu_end_copies();
          weft_emu_begin_copy(own + 4, nullptr);
          weft_emu_end_copies();
          EXPECT_TRUE(std::isnan(own[0]) && std::isnan(own[4]));
          weft_emu_wait_for_copies(1);
          EXPECT_EQ(own[3], float(4 * threadIndex(0) + 3));
          EXPECT_TRUE(std::isnan(own[4]));
          weft_emu_wait_for_copies(0);
          EXPECT_EQ(own[4], 0.0f);
        },
        seed);
  EXPECT_ERROR(launch(grid,
                      [&] {
                        weft_emu_begin_copy(sharedMemory(), from + 125);
                        weft_emu_end_copies();
                        weft_emu_wait_for_copies(0);
                      }),
               "thread 0 of block 0 touches 16 bytes at once at byte 500");
}

} // namespace
} // namespace weft::emulation
