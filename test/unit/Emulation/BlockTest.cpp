//===- BlockTest.cpp - Threads of a block that wait for each other --------===//

#include "Fiber.h"
#include "Running.h"

#include <cmath>
#include <cstring>
#include <ctime>
#include <numeric>
#include <set>

namespace weft::emulation {
namespace {

TEST(Block, RunsEachThreadOfAGridOnce) {
  Grid grid;
  for (int dim = 0; dim < 3; ++dim) {
    grid.blocks[dim] = 2 + dim;
    grid.threads[dim] = 5 - dim;
  }
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::multiset<std::vector<unsigned>> seen;
    run(
        grid,
        [&] {
          std::vector<unsigned> place;
          for (int dim = 0; dim < 3; ++dim) {
            place.push_back(threadIndex(dim));
            place.push_back(blockIndex(dim));
            EXPECT_EQ(blockSize(dim), grid.threads[dim]);
            EXPECT_EQ(gridSize(dim), grid.blocks[dim]);
            EXPECT_LT(threadIndex(dim), grid.threads[dim]);
            EXPECT_LT(blockIndex(dim), grid.blocks[dim]);
          }
          seen.insert(place);
        },
        seed);
    EXPECT_EQ(seen.size(), 2u * 3 * 4 * 5 * 4 * 3);
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), seen.size());
  }
}

TEST(Block, PlainOrderIsByNumber) {
  Grid grid = blockOf(8, 4);
  grid.blocks[0] = 2;
  std::vector<unsigned> order;
  run(grid, [&] {
    for (int turn = 0; turn < 2; ++turn) {
      order.push_back(64 * blockIndex(0) + 32 * turn + 8 * threadIndex(1) +
                      threadIndex(0));
      barrier();
    }
  });
  std::vector<unsigned> expected(128);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST(Block, SeedsGiveOrdersOfTheirOwn) {
  auto orderOf = [](uint64_t seed) {
    Grid grid = blockOf(64);
    grid.blocks[0] = 3;
    std::vector<unsigned> order;
    run(
        grid,
        [&] {
          for (int turn = 0; turn < 2; ++turn) {
            order.push_back(64 * blockIndex(0) + threadIndex(0));
            warpBarrier();
          }
        },
        seed);
    return order;
  };
  std::set<std::vector<unsigned>> orders;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    orders.insert(orderOf(seed));
    EXPECT_EQ(orderOf(seed), orderOf(seed));
  }
  EXPECT_EQ(orders.size(), kSeeds);
}

/// Adds up the threads' numbers in shared memory, in halves.
void addUp(unsigned threads, int *total) {
  auto *sums = static_cast<int *>(sharedMemory());
  unsigned i = threadIndex(0);
  sums[i] = i + 1;
  for (unsigned half = threads / 2; half; half /= 2) {
    barrier();
    if (i < half)
      sums[i] += sums[i + half];
  }
  if (i == 0)
    *total = sums[0];
}

TEST(Block, BarriersSeparateWritesFromReads) {
  for (unsigned threads : {1, 2, 32, 64, 1024})
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      Grid grid = blockOf(threads);
      grid.blocks[1] = 3;
      grid.sharedBytes = threads * sizeof(int);
      int total = 0;
      run(grid, [&] { addUp(threads, &total); }, seed);
      EXPECT_EQ(total, int(threads * (threads + 1) / 2));
    }
}

TEST(Block, SomeOrderShowsThatABarrierIsMissing) {
  bool isSeen = false;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Grid grid = blockOf(64);
    int first = 0, wrong = 0;
    run(
        grid,
        [&] {
          if (threadIndex(0) == 0)
            first = 1;
          wrong += first != 1;
        },
        seed);
    isSeen |= wrong != 0;
  }
  EXPECT_TRUE(isSeen);
}

TEST(Block, NamedBarriersHoldAPartOfTheBlock) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    int arrived[2] = {0, 0};
    run(
        blockOf(128),
        [&] {
          unsigned half = threadIndex(0) / 64;
          ++arrived[half];
          namedBarrier(1 + half, 64);
          EXPECT_EQ(arrived[half], 64);
        },
        seed);
  }
}

TEST(Block, BarriersCount) {
  run(blockOf(96), [] {
    EXPECT_EQ(weft_emu_barrier_count(threadIndex(0) % 3 == 0, 1), 32u);
  });
}

TEST(Block, SharedMemoryOfABlockIsPoisoned) {
  static char fixed[8];
  Grid grid = blockOf(1);
  grid.blocks[0] = 3;
  grid.sharedBytes = 16;
  grid.sharedBegin = fixed;
  grid.sharedEnd = fixed + sizeof(fixed);
  run(grid, [] {
    auto *bytes = static_cast<unsigned char *>(sharedMemory());
    for (int i = 0; i < 16; ++i)
      EXPECT_EQ(bytes[i], kPoison);
    for (char &byte : fixed)
      EXPECT_EQ(static_cast<unsigned char>(byte), kPoison);
    std::memset(bytes, 0, 16);
    std::memset(fixed, 0, sizeof(fixed));
  });
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

/// The values of lanes 0 to 31 of a warp after each gave its number.
std::vector<unsigned> exchanged(WeftEmuShuffle kind, unsigned operand,
                                unsigned clamp) {
  std::vector<unsigned> values(32);
  for (uint64_t seed = 0; seed < 3; ++seed)
    run(
        blockOf(32),
        [&] {
          values[laneIndex()] = shuffle(kind, laneIndex(), operand, clamp);
        },
        seed);
  return values;
}

TEST(Shuffle, TakesTheLaneThatPtxDefines) {
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(exchanged(WeftEmuXor, 5, 31)[i], i ^ 5);
    EXPECT_EQ(exchanged(WeftEmuUp, 3, 0)[i], i < 3 ? i : i - 3);
    EXPECT_EQ(exchanged(WeftEmuDown, 3, 31)[i], i + 3 > 31 ? i : i + 3);
    EXPECT_EQ(exchanged(WeftEmuIndex, 7, 31)[i], 7u);
    // Segments of 8: clamp has 31 - 7 in its bits 8 to 12.
    EXPECT_EQ(exchanged(WeftEmuIndex, 7, 24 << 8 | 31)[i], i / 8 * 8 + 7);
    EXPECT_EQ(exchanged(WeftEmuDown, 1, 24 << 8 | 31)[i],
              i % 8 == 7 ? i : i + 1);
    EXPECT_EQ(exchanged(WeftEmuUp, 1, 24 << 8)[i], i % 8 == 0 ? i : i - 1);
  }
}

TEST(Shuffle, PartsOfAWarpExchangeOnTheirOwn) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed)
    run(
        blockOf(32),
        [&] {
          unsigned half = laneIndex() / 16;
          uint32_t mask = 0xffffu << 16 * half;
          unsigned sum = laneIndex();
          for (unsigned bit = 1; bit < 16; bit *= 2)
            sum += shuffle(WeftEmuXor, sum, bit, 31, mask);
          EXPECT_EQ(sum, half ? 376u : 120u);
        },
        seed);
}

TEST(Shuffle, BallotsAndSharedWork) {
  run(blockOf(64), [] {
    EXPECT_EQ(weft_emu_ballot(kAllLanes, laneIndex() % 2, 1), 0xaaaaaaaa);
    unsigned record = laneIndex();
    weft_emu_together(
        kAllLanes, &record,
        [](void **records, uint32_t) {
          for (int i = 0; i < 16; ++i)
            std::swap(*static_cast<unsigned *>(records[i]),
                      *static_cast<unsigned *>(records[31 - i]));
        },
        2);
    EXPECT_EQ(record, 31 - laneIndex());
  });
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST(BlockErrors, ThreadEndsBeforeABarrier) {
  EXPECT_ERROR(run(blockOf(64),
                   [] {
                     if (threadIndex(0) != 63)
                       barrier();
                   }),
               "block 0: threads wait for each other: threads 0 to 62 are at "
               "barrier 0 of the block, thread 63 is at the end");
}

TEST(BlockErrors, ThreadsWaitInDifferentPlaces) {
  auto kernel = [] {
    if (threadIndex(0) < 32)
      warpBarrier(threadIndex(0) < 16 ? 0xffff : kAllLanes);
    else
      barrier();
  };
  EXPECT_ERROR(run(blockOf(64), kernel),
               "block 0: threads wait for each other: threads 0 to 15 are at "
               "the end, threads 16 to 31 are waiting for the lanes "
               "0xffffffff of the warp, threads 32 to 63 are at barrier 0");
}

TEST(BlockErrors, BarriersOfDifferentPlaces) {
  auto kernel = [] {
    if (threadIndex(0) < 32)
      barrier(/*site=*/1);
    else
      barrier(/*site=*/2);
  };
  EXPECT_ERROR(run(blockOf(64), kernel),
               "threads of a block meet at different barriers: thread 32 at "
               "place 2 for 64 threads, others at place 1 for 64");
}

TEST(BlockErrors, ExchangesOfDifferentPlaces) {
  auto kernel = [] {
    shuffle(WeftEmuXor, 0, 1, 31, kAllLanes, int(laneIndex() % 2));
  };
  EXPECT_ERROR(run(blockOf(32), kernel),
               "lanes of a warp meet at different places: thread 1 at 1, "
               "others at 0");
}

TEST(BlockErrors, LanesThatTakeNoPart) {
  EXPECT_ERROR(run(blockOf(32), [] { warpBarrier(0xffff); }),
               "thread 16 meets lanes of its warp, but is not among them");
  auto kernel = [] {
    if (laneIndex() < 16)
      shuffle(WeftEmuXor, 0, 16, 31, 0xffff);
  };
  EXPECT_ERROR(run(blockOf(32), kernel),
               "lane 0 wants the value of lane 16, which does not take part");
}

TEST(BlockErrors, GridsThatNoDeviceRuns) {
  EXPECT_ERROR(run(blockOf(1025), [] {}),
               "expects 1 to 1024 threads in a block, but got 1025");
  EXPECT_ERROR(run(blockOf(0), [] {}),
               "expects 1 to 1024 threads in a block, but got 0");
  Grid large;
  large.sharedBytes = 228 << 10;
  EXPECT_ERROR(run(large, [] {}), "expects at most 232448 bytes of shared");
  EXPECT_ERROR(run(blockOf(1), [] { run(blockOf(1), [] {}); }),
               "a grid cannot start another one");
  EXPECT_ERROR(weft_emu_place(), "no kernel runs");
  EXPECT_ERROR(run(blockOf(1), [] { namedBarrier(16, 1); }),
               "expects a barrier 0 to 15, but got 16");
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

TEST(Numbers, Bf16) {
  EXPECT_EQ(weft_emu_to_bf16(1.0f), 0x3f80);
  EXPECT_EQ(weft_emu_to_bf16(-0.0f), 0x8000);
  EXPECT_EQ(weft_emu_to_bf16(1 + 0x1p-8f), 0x3f80); // ties go to even
  EXPECT_EQ(weft_emu_to_bf16(1 + 0x3p-8f), 0x3f82);
  EXPECT_EQ(weft_emu_to_bf16(1 + 0x1p-8f + 0x1p-20f), 0x3f81);
  EXPECT_EQ(weft_emu_to_bf16(0x1.ffffp127f), 0x7f80);
  EXPECT_EQ(weft_emu_to_bf16(0x1p-133f), 1);
  EXPECT_EQ(weft_emu_to_bf16(-std::nanf("")), 0x7fff);
}

//===----------------------------------------------------------------------===//
// Speed
//===----------------------------------------------------------------------===//

/// Of this process.
double processorSeconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

/// Nanoseconds for one thread to wait and go on, the best of ten.
double timePerTurn(unsigned threads, const std::function<void()> &meet) {
  constexpr int kTurns = 4000;
  double best = 1e9;
  for (int repeat = 0; repeat < 10; ++repeat) {
    double start = processorSeconds();
    run(blockOf(threads), [&] {
      for (int i = 0; i < kTurns; ++i)
        meet();
    });
    best =
        std::min(best, (processorSeconds() - start) * 1e9 / kTurns / threads);
  }
  return best;
}

TEST(BlockSpeed, TurnsAreCheap) {
#ifdef WEFT_EMULATION_ASAN
  GTEST_SKIP() << "the sanitizer takes part in each turn";
#endif
  double warp = timePerTurn(32, [] { warpBarrier(); });
  double exchange = timePerTurn(32, [] { shuffle(WeftEmuXor, 0, 1); });
  double all = timePerTurn(256, [] { barrier(); });
  std::printf("ns per thread: barrier of a warp %.1f, exchange %.1f, barrier "
              "of 256 threads %.1f\n",
              warp, exchange, all);
  // A turn takes 10 to 15 ns on an idle machine, and of this process's time at
  // most 27 were seen on two cores with a load of 9, of which 256 stacks that
  // leave the caches are the most. A switch that asks the kernel, as
  // swapcontext does, takes 180.
  EXPECT_LT(std::max({warp, exchange, all}), 60);
}

} // namespace
} // namespace weft::emulation
