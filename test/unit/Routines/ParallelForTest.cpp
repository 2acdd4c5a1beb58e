//===- ParallelForTest.cpp - Every element once, on grain borders ---------===//

#include "weft/Runtime/Execute/ParallelFor.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

using namespace weft;

static void checkCover(int threads, int64_t extent, int64_t grain,
                       Schedule schedule) {
  std::vector<std::atomic<int>> seen(extent);
  std::atomic<bool> wrong{false};
  parallelFor(
      threads, extent, grain,
      [&](RangePart part) {
        if (part.begin % grain != 0 || part.begin >= part.end ||
            part.worker < 0 || part.worker >= threads ||
            (part.end % grain != 0 && part.end != extent))
          wrong = true;
        for (int64_t i = part.begin; i < part.end; ++i)
          ++seen[i];
      },
      schedule);
  EXPECT_FALSE(wrong);
  for (auto &count : seen)
    EXPECT_EQ(count, 1);
}

TEST(ParallelFor, CoversTheRangeOnce) {
  for (Schedule schedule : {Schedule::Static, Schedule::Dynamic})
    for (int threads : {1, 2, 3, 8})
      for (int64_t extent : {1, 2, 7, 64, 65, 1000})
        for (int64_t grain : {1, 3, 64, 2000})
          checkCover(threads, extent, grain, schedule);
}

TEST(ParallelFor, EmptyRangeCallsNothing) {
  parallelFor(2, 0, 1, [](RangePart) { FAIL(); });
  parallelFor(2, -5, 1, [](RangePart) { FAIL(); });
}

TEST(ParallelFor, UsesSeveralThreads) {
  std::set<int> workers;
  std::mutex mutex;
  parallelFor(2, 2, 1, [&](RangePart part) {
    std::lock_guard<std::mutex> lock(mutex);
    workers.insert(part.worker);
  });
  EXPECT_EQ(workers, (std::set<int>{0, 1}));
}

TEST(ParallelFor, DoesNotNest) {
  std::atomic<int> calls{0};
  parallelFor(2, 2, 1, [&](RangePart) {
    parallelFor(2, 10, 1, [&](RangePart part) {
      EXPECT_EQ(part.worker, 0);
      EXPECT_EQ(part.end - part.begin, 10);
      ++calls;
    });
  });
  EXPECT_EQ(calls, 2);
}

TEST(ParallelFor, OneGrainRunsInline) {
  int calls = 0;
  parallelFor(8, 10, 10, [&](RangePart) { ++calls; });
  EXPECT_EQ(calls, 1);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
/// The parts of a region are unordered for the thread sanitizer too, even when
/// one of them starts after the other is done.
TEST(ParallelForDeathTest, ThreadSanitizerSeesARaceBetweenParts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  int shared = 0;
  auto race = [&](RangePart) { ++shared; };
  EXPECT_EXIT((parallelFor(2, 2, 1, race), std::exit(shared < 0)),
              testing::ExitedWithCode(66), "data race");
}
#endif
#endif
