//===- MemoryTest.cpp - Checks of the device's memory ---------------------===//

#include "Running.h"

#include <cstring>

namespace weft::emulation {
namespace {

/// Blocks of 32 threads.
Grid gridOf(unsigned blocks) {
  Grid grid = blockOf(32);
  grid.blocks[0] = blocks;
  return grid;
}

unsigned index() { return blockIndex(0) * blockSize(0) + threadIndex(0); }

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

TEST(DeviceMemory, AllocationsAreAlignedAndPoisoned) {
  DeviceMemory &memory = DeviceMemory::get();
  for (size_t bytes : {1, 255, 256, 257, 4096, 100000}) {
    size_t before = memory.used();
    char *place = memory.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(place) % 256, 0u);
    EXPECT_GE(memory.used(), before + bytes);
    for (size_t i = 0; i < bytes; ++i)
      ASSERT_EQ(static_cast<unsigned char>(place[i]), kPoison);
    EXPECT_FALSE(memory.free(place + 1));
    EXPECT_TRUE(memory.free(place));
    EXPECT_FALSE(memory.free(place));
    EXPECT_EQ(memory.used(), before);
  }
}

TEST(DeviceMemory, PoisonIsAsNew) {
  DeviceMemory &memory = DeviceMemory::get();
  char *place = memory.allocate(4000);
  memory.markWritten(place, 4000);
  std::memset(place, 0, 4000);
  memory.poison(place + 100, 50);
  memory.expectWritten(place, 100, "a copy");
  memory.expectWritten(place + 150, 3850, "a copy");
  EXPECT_ERROR(memory.expectWritten(place, 4000, "a copy"),
               "a copy reads what nobody has written: byte 100 of");
  EXPECT_EQ(static_cast<unsigned char>(place[149]), kPoison);
  EXPECT_EQ(place[150], 0);
  EXPECT_ERROR(memory.poison(place + 3999, 2), "poison touches 2 bytes at");
  EXPECT_TRUE(memory.free(place));
}

TEST(DeviceMemory, TheOnlyOneOfASize) {
  DeviceMemory memory(1 << 16);
  char *place = memory.allocate(5000), *other = memory.allocate(5001);
  EXPECT_EQ(memory.findOfSize(5000)->begin, place);
  EXPECT_EQ(memory.findOfSize(5001)->begin, other);
  EXPECT_EQ(memory.findOfSize(4999), nullptr);
  char *second = memory.allocate(5000);
  EXPECT_EQ(memory.findOfSize(5000), nullptr);
  EXPECT_TRUE(memory.free(second));
  EXPECT_EQ(memory.findOfSize(5000)->begin, place);
}

TEST(DeviceMemory, EndsWhereItsSizeSays) {
  DeviceMemory memory(1024);
  EXPECT_EQ(memory.allocate(1025), nullptr);
  EXPECT_EQ(memory.allocate(0), nullptr);
  char *place = memory.allocate(1000);
  EXPECT_NE(place, nullptr);
  EXPECT_EQ(memory.allocate(1), nullptr);
  EXPECT_TRUE(memory.free(place));
  EXPECT_NE(memory.allocate(1), nullptr);
}

TEST(DeviceMemory, RangesOfTheHost) {
  DeviceMemory &memory = DeviceMemory::get();
  auto *place = reinterpret_cast<char *>(allocate(16));
  memory.expectRange(place, 64, "a copy");
  EXPECT_ERROR(memory.expectRange(place + 1, 64, "a copy"),
               "a copy touches 64 bytes at byte 1 of an allocation of 64");
  EXPECT_ERROR(memory.expectRange(&memory, 1, "a copy"),
               "a copy touches 1 bytes at the address 0x[0-9a-f]+, which is "
               "no memory of the device");
  memory.markWritten(place + 8, 8);
  memory.expectWritten(place + 8, 8, "a copy");
  EXPECT_ERROR(memory.expectWritten(place + 8, 9, "a copy"),
               "a copy reads what nobody has written: byte 16 of");
  memory.copyMarks(place + 20, place + 4, 8);
  memory.expectWritten(place + 24, 4, "a copy");
  EXPECT_ERROR(memory.expectWritten(place + 20, 4, "a copy"), "a copy reads");
  memory.free(place);
  EXPECT_ERROR(memory.expectRange(place, 4, "a copy"),
               "a copy touches 4 bytes at byte 0 of an allocation of 64 bytes, "
               "which is freed");
}

TEST(DeviceMemory, FaultsAreReported) {
  float *place = allocate(64);
  volatile float *end = place + 64;
  EXPECT_ERROR((reportFaults(), *end = 1),
               "something touches byte 256 of an allocation of 256 bytes");
  EXPECT_ERROR(
      (reportFaults(), DeviceMemory::get().setOpen(false), *(end - 1) = 1),
      "the host touches byte 252 of an allocation of 256 bytes");
  DeviceMemory::get().free(place);
  EXPECT_ERROR((reportFaults(), *(end - 1) = 1),
               "something touches byte 252 of an allocation of 256 bytes, "
               "which is freed");
}

int deepen(int depth) {
  volatile char room[1024];
  room[0] = char(depth);
  room[1] = depth > 100000 ? 0 : char(deepen(depth + 1));
  return room[0] + room[1];
}

TEST(DeviceMemory, StacksHaveAnEnd) {
  EXPECT_ERROR((reportFaults(), run(blockOf(2), [] { deepen(0); })),
               "a thread has no stack left");
}

//===----------------------------------------------------------------------===//
// Accesses to global memory
//===----------------------------------------------------------------------===//

TEST(GlobalMemory, KernelsThatAreRight) {
  float *from = allocateWritten(96), *to = allocate(96);
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    for (int repeat = 0; repeat < 2; ++repeat)
      launch(
          gridOf(3), [&] { store(to + index(), load(from + index()) + 1); },
          seed);
  DeviceMemory::get().expectWritten(to, 96 * sizeof(float), "a test");
}

TEST(GlobalMemoryErrors, AccessesOutside) {
  float *x = allocateWritten(31);
  EXPECT_ERROR(launch(gridOf(1), [&] { load(x + index()); }),
               "thread 31 of block 0 touches 4 bytes at byte 124 of an "
               "allocation of 124 bytes");
  EXPECT_ERROR(launch(gridOf(1), [&] { store(x + index(), 1.0f); }),
               "thread 31 of block 0 touches 4 bytes at byte 124");
  EXPECT_ERROR(launch(gridOf(1), [&] { load(x - index()); }),
               "thread 1 of block 0 touches 4 bytes at byte -4");
  EXPECT_ERROR(launch(gridOf(1),
                      [&] {
                        float host = 0;
                        load(&host); // a thread's own
                        load(new float(host));
                      }),
               "thread 0 of block 0 touches the address 0x[0-9a-f]+, which is "
               "no memory of the device");
  static float fixed = 1;
  launch(gridOf(1), [&] { load(&fixed); });
  EXPECT_ERROR(launch(gridOf(1), [&] { store(&fixed, 2.0f); }),
               "thread 0 of block 0 touches the address");
  DeviceMemory::get().free(x);
  EXPECT_ERROR(launch(gridOf(1), [&] { load(x); }), ".*, which is freed");
}

TEST(GlobalMemoryErrors, ReadsOfPoison) {
  float *x = allocate(32);
  launch(blockOf(31), [&] { store(x + index(), 1.0f); });
  EXPECT_ERROR(launch(gridOf(1), [&] { load(x + index()); }),
               "thread 31 of block 0 reads what nobody has written: byte 124 "
               "of an allocation of 128 bytes");
}

TEST(GlobalMemoryErrors, Alignment) {
  auto *x = reinterpret_cast<char *>(allocateWritten(32));
  launch(gridOf(1), [&] { weft_emu_load(x + 16, 16); });
  EXPECT_ERROR(launch(gridOf(1), [&] { weft_emu_load(x + 8, 16); }),
               "thread 0 of block 0 touches 16 bytes at once at byte 8 of .*, "
               "no multiple of that size");
}

TEST(GlobalMemoryErrors, BlocksOnOnePlace) {
  float *x = allocateWritten(64);
  EXPECT_ERROR(launch(gridOf(2), [&] { store(x + threadIndex(0), 1.0f); }),
               "blocks 0 and 1 store to one place: byte 0");
  EXPECT_ERROR(launch(gridOf(2),
                      [&] {
                        if (blockIndex(0) == 0)
                          store(x + threadIndex(0), 1.0f);
                        else
                          load(x + threadIndex(0));
                      }),
               "blocks 0 and 1 store to and read from one place: byte 0");
  // One behind the other.
  launch(gridOf(1), [&] { store(x + threadIndex(0), 1.0f); });
  launch(gridOf(2), [&] { load(x + threadIndex(0)); });
}

TEST(GlobalMemoryErrors, SomeOrderShowsAReadBeforeAStore) {
  float *x = allocateWritten(1);
  auto kernel = [&] {
    if (blockIndex(0) == 1)
      store(x, 1.0f);
    else
      load(x);
  };
  Grid grid = blockOf(1);
  grid.blocks[0] = 2;
  launch(grid, kernel);
  EXPECT_ERROR(for (uint64_t seed = 1; seed < kSeeds; ++seed)
                   launch(grid, kernel, seed),
               "blocks 1 and 0 store to and read from one place");
}

/// All threads of a block read a value; then the first one overwrites it.
void readThenWrite(float *x, bool warpsMeet, bool blockMeets) {
  load(x);
  if (warpsMeet)
    warpBarrier();
  if (blockMeets)
    barrier();
  if (threadIndex(0) == 0)
    store(x, 1.0f);
}

TEST(GlobalMemory, ThreadsThatMeet) {
  float *x = allocateWritten(1);
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    launch(blockOf(64), [&] { readThenWrite(x, false, true); }, seed);
    launch(blockOf(32), [&] { readThenWrite(x, true, false); }, seed);
  }
}

TEST(GlobalMemoryErrors, ThreadsOfABlockOnOnePlace) {
  float *x = allocateWritten(1);
  for (unsigned threads : {32, 64})
    EXPECT_ERROR(launch(blockOf(threads),
                        [&] { readThenWrite(x, threads == 64, false); }),
                 "threads [0-9]+ and [0-9]+ of block 0 use byte 0 of an "
                 "allocation of 4 bytes, one of them writes, and no barrier is "
                 "between them");
  EXPECT_ERROR(launch(blockOf(2), [&] { store(x, 1.0f); }),
               "threads 0 and 1 of block 0 use byte 0");
}

/// Threads write bytes one by one, and one reads all of them at once.
TEST(GlobalMemory, BytesAndVectors) {
  constexpr unsigned kThreads = 1024;
  auto *x = reinterpret_cast<char *>(allocate(4 * kThreads));
  auto kernel = [&](unsigned late, unsigned vector) {
    unsigned i = threadIndex(0);
    if (i == 0)
      weft_emu_store(x + 8192, 16);
    weft_emu_store(x + 2 * i, 2);
    if (i == 0)
      weft_emu_load(x + 8192, 16);
    barrier();
    if (i == late)
      weft_emu_store(x + 16 * vector + 3, 1);
    if (i < kThreads / 8)
      weft_emu_load(x + 16 * i, 16);
  };
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    launch(blockOf(kThreads), [&] { kernel(5, 5); }, seed);
  EXPECT_ERROR(launch(blockOf(kThreads), [&] { kernel(200, 7); }),
               "threads (7 and 200|200 and 7) of block 0 use byte 115");
}

//===----------------------------------------------------------------------===//
// Accesses to shared memory
//===----------------------------------------------------------------------===//

float *sharedFloats() { return static_cast<float *>(sharedMemory()); }

Grid sharedGrid(unsigned threads, unsigned floats) {
  Grid grid = blockOf(threads);
  grid.sharedBytes = floats * sizeof(float);
  return grid;
}

/// Each thread's value moves to the next one, twice.
void rotate(bool meetsBefore, bool meetsBetween) {
  unsigned i = threadIndex(0), count = blockSize(0);
  float *x = sharedFloats();
  store(x + i, float(i));
  if (meetsBefore)
    barrier();
  float next = load(x + (i + 1) % count);
  if (meetsBetween)
    barrier();
  store(x + i, next);
}

TEST(SharedMemory, KernelsThatAreRight) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    launch(sharedGrid(64, 64), [] { rotate(true, true); }, seed);
}

TEST(SharedMemory, WarpsOrderTheirOwn) {
  auto kernel = [] {
    float *x = sharedFloats() + threadIndex(0) / 32 * 32;
    store(x + laneIndex(), 1.0f);
    warpBarrier();
    load(x + (laneIndex() ^ 5));
    warpBarrier();
    store(x + laneIndex(), 2.0f);
  };
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    launch(sharedGrid(64, 64), kernel, seed);
}

TEST(SharedMemoryErrors, BarriersThatAreMissing) {
  EXPECT_ERROR(launch(sharedGrid(64, 64), [] { rotate(false, true); }),
               "thread 0 of block 0 reads what nobody has written: byte 4");
  EXPECT_ERROR(for (uint64_t seed = 1; seed < kSeeds; ++seed) launch(
                   sharedGrid(64, 64), [] { rotate(false, true); }, seed),
               "threads? .* (reads what nobody|one of them writes)");
  EXPECT_ERROR(launch(sharedGrid(64, 64), [] { rotate(true, false); }),
               "threads 0 and 1 of block 0 use byte 4 of shared memory, one "
               "of them writes, and no barrier is between them");
}

TEST(SharedMemoryErrors, WarpsThatWaitForNobodyElse) {
  auto kernel = [] {
    float *x = sharedFloats();
    store(x + threadIndex(0), 1.0f);
    warpBarrier();
    load(x + (threadIndex(0) ^ 32));
  };
  EXPECT_ERROR(for (uint64_t seed = 0; seed < kSeeds; ++seed)
                   launch(sharedGrid(64, 64), kernel, seed),
               "threads? .* (reads what nobody|one of them writes)");
}

TEST(SharedMemoryErrors, ExchangesOrderNothing) {
  auto kernel = [] {
    float *x = sharedFloats();
    store(x + threadIndex(0), 1.0f);
    shuffle(WeftEmuXor, 0, 1);
    load(x + (threadIndex(0) ^ 1));
  };
  EXPECT_ERROR(launch(sharedGrid(32, 32), kernel),
               "threads 1 and 0 of block 0 use byte 4");
}

TEST(SharedMemoryErrors, SeveralReadersThenAWriter) {
  auto kernel = [](unsigned readers, bool warpsMeet) {
    float *x = sharedFloats();
    if (threadIndex(0) == 0)
      store(x, 1.0f);
    barrier(1);
    if (threadIndex(0) < readers)
      load(x);
    if (warpsMeet)
      warpBarrier();
    if (threadIndex(0) == 0)
      store(x, 2.0f);
  };
  launch(sharedGrid(64, 1), [&] { kernel(32, true); });
  EXPECT_ERROR(for (uint64_t seed = 0; seed < kSeeds; ++seed) launch(
                   sharedGrid(64, 1), [&] { kernel(64, true); }, seed),
               "threads .* use byte 0 of shared memory");
  EXPECT_ERROR(for (uint64_t seed = 0; seed < kSeeds; ++seed) launch(
                   sharedGrid(64, 1), [&] { kernel(2, false); }, seed),
               "threads .* use byte 0 of shared memory");
}

TEST(SharedMemoryErrors, BlocksKeepNothing) {
  auto kernel = [] {
    if (blockIndex(0) == 0)
      store(sharedFloats(), 1.0f);
    else
      load(sharedFloats());
  };
  Grid grid = sharedGrid(1, 1);
  grid.blocks[0] = 2;
  EXPECT_ERROR(launch(grid, kernel),
               "thread 0 of block 1 reads what nobody has written: byte 0 of "
               "shared memory");
}

TEST(SharedMemoryErrors, MoreThanTheLaunchHas) {
  EXPECT_ERROR(launch(sharedGrid(1, 4), [] { load(sharedFloats() + 4); }),
               "thread 0 of block 0 touches shared memory beyond the 16 bytes");
  EXPECT_ERROR(
      launch(sharedGrid(1, 3), [] { weft_emu_load(sharedFloats(), 16); }),
      "thread 0 of block 0 touches 16 bytes at byte 0 of 12 bytes of "
      "shared memory");
}

TEST(SharedMemoryErrors, StaticMemory) {
  static float x[2];
  Grid grid = blockOf(1);
  grid.sharedBegin = reinterpret_cast<char *>(x);
  grid.sharedEnd = grid.sharedBegin + sizeof(x);
  launch(grid, [&] { store(x, 1.0f), load(x); });
  EXPECT_ERROR(launch(grid, [&] { load(x + 1); }),
               "thread 0 of block 0 reads what nobody has written: byte 4 of "
               "shared memory");
}

} // namespace
} // namespace weft::emulation
