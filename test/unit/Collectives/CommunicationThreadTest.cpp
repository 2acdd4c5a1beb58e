//===- CommunicationThreadTest.cpp - Jobs of a communicator ---------------===//

#include "weft/Runtime/Collectives/CommandStreams.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <vector>

using namespace weft;

namespace {

TEST(CommunicationThread, RunsJobsInOrder) {
  CommunicationThread thread;
  std::vector<int> seen;
  int64_t last = 0;
  for (int i = 0; i < 1000; ++i)
    last = thread.start([&seen, i] {
      seen.push_back(i);
      return Status::success();
    });
  EXPECT_EQ(last, 1000);
  EXPECT_TRUE(thread.wait(last));
  ASSERT_EQ(seen.size(), 1000u);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(seen[size_t(i)], i);
  EXPECT_TRUE(thread.wait(3));
}

TEST(CommunicationThread, ErrorsReachTheWaiters) {
  CommunicationThread thread;
  bool hasRun = false;
  const auto good = thread.start([] { return Status::success(); });
  const auto bad = thread.start(
      [] { return Error(ExitCode::Communication, "nobody is there"); });
  const auto later = thread.start([&] {
    hasRun = true;
    return Status::success();
  });
  EXPECT_TRUE(thread.wait(good));
  EXPECT_EQ(thread.wait(later).error().message(), "nobody is there");
  EXPECT_EQ(thread.wait(bad).error().code(), ExitCode::Communication);
  EXPECT_TRUE(thread.wait(good));
  EXPECT_FALSE(hasRun);
}

// Jobs behind the one that runs are dropped; it is not.
TEST(CommunicationThread, EndsWithTheJobThatRuns) {
  std::atomic<int> begun{0}, ended{0};
  {
    CommunicationThread thread;
    for (int i = 0; i < 5; ++i)
      thread.start([&] {
        ++begun;
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        ++ended;
        return Status::success();
      });
    while (begun == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(begun, ended);
  EXPECT_LT(ended, 5);
}

// The thread and its waiter sleep.
TEST(CommunicationThread, TakesNoTimeWhileIdle) {
  CommunicationThread thread;
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto ticket = thread.start([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return Status::success();
  });
  EXPECT_TRUE(thread.wait(ticket));
  EXPECT_LT(double(std::clock() - before) / CLOCKS_PER_SEC, 0.05);
}

} // namespace
