//===- CommandStreamsTest.cpp - Queues of a rank --------------------------===//

#include "weft/Runtime/Collectives/CommandStreams.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

using namespace weft;

namespace {

/// Two streams, 3 and 4, whose jobs need no ranks.
struct CommandStreamsTest : testing::Test {
  static std::map<int64_t, CommandStreams::Groups> twoStreams() {
    std::map<int64_t, CommandStreams::Groups> groups;
    groups[3];
    groups[4];
    return groups;
  }
  CommandStreams streams{twoStreams()};

  void start(int64_t stream, CommunicationThread::Job job) {
    EXPECT_TRUE(streams.start(stream, std::move(job)));
  }
  /// A job that ends when the gate opens.
  CommunicationThread::Job behind(const std::shared_future<void> &gate,
                                  std::atomic<int> &count) {
    return [gate, &count] {
      gate.wait();
      ++count;
      return Status::success();
    };
  }
};

TEST_F(CommandStreamsTest, AnEventStandsForWhatWasGivenBefore) {
  std::promise<void> first, second;
  std::atomic<int> count{0};
  start(3, behind(first.get_future().share(), count));
  streams.record(3, 0);
  start(3, behind(second.get_future().share(), count));
  first.set_value();
  EXPECT_TRUE(streams.wait(0, 0));
  EXPECT_EQ(count, 1);
  // Recorded again it stands for both.
  streams.record(3, 0);
  second.set_value();
  EXPECT_TRUE(streams.wait(0, 0));
  EXPECT_EQ(count, 2);
}

TEST_F(CommandStreamsTest, WhatComputesHasDoneAllThatItGaveBefore) {
  EXPECT_TRUE(streams.wait(0, 7)); // never recorded
  streams.record(0, 1);
  EXPECT_TRUE(streams.wait(3, 1));
  streams.record(3, 2); // of nothing
  EXPECT_TRUE(streams.wait(0, 2));
  EXPECT_EQ(streams.waitedNs(), 0);
}

TEST_F(CommandStreamsTest, StreamsRunBesideEachOtherAndWaitForEvents) {
  std::promise<void> gate;
  std::atomic<int> slow{0}, quick{0};
  const std::shared_future<void> open = gate.get_future().share();
  start(3, behind(open, slow));
  streams.record(3, 0);
  std::promise<void> opened;
  opened.set_value();
  start(4, behind(opened.get_future().share(), quick));
  streams.record(4, 1);
  EXPECT_TRUE(streams.wait(0, 1)); // stream 3 is still busy
  EXPECT_EQ(quick, 1);
  EXPECT_EQ(slow, 0);
  EXPECT_TRUE(streams.wait(4, 0)); // returns: stream 4 waits
  int seen = -1;
  start(4, [&] {
    seen = slow;
    return Status::success();
  });
  streams.record(4, 1);
  gate.set_value();
  EXPECT_TRUE(streams.wait(0, 1));
  EXPECT_EQ(seen, 1);
}

TEST_F(CommandStreamsTest, CountsTheTimeInWhichNothingIsComputed) {
  start(3, [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    return Status::success();
  });
  streams.record(3, 0);
  EXPECT_TRUE(streams.wait(0, 0));
  EXPECT_GE(streams.waitedNs(), 30 * 1000000);
}

TEST_F(CommandStreamsTest, ErrorsReachWhatComputes) {
  start(3, [] { return Error(ExitCode::Communication, "gone"); });
  streams.record(3, 0);
  EXPECT_TRUE(streams.wait(4, 0));
  streams.record(4, 1);
  Status ofOther = streams.wait(0, 1), own = streams.wait(0, 0);
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().message(), "gone");
  ASSERT_FALSE(ofOther);
  EXPECT_EQ(ofOther.error().message(), "gone");
}

// One that waits for what another stream will never run ends as well.
TEST_F(CommandStreamsTest, StopsStreamsThatWaitForEachOther) {
  std::promise<void> gate, begun;
  std::atomic<int> count{0}, never{0};
  const std::shared_future<void> open = gate.get_future().share();
  start(3, [&, job = behind(open, count)] {
    begun.set_value();
    return job();
  });
  begun.get_future().wait();
  start(3, behind(open, never));
  streams.record(3, 0);
  EXPECT_TRUE(streams.wait(4, 0));
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.set_value();
  });
  streams.stop();
  EXPECT_EQ(count, 1);
  EXPECT_EQ(never, 0);
  EXPECT_FALSE(streams.wait(0, 0));
  opener.join();
}

TEST_F(CommandStreamsTest, TracesComeFromAnyThread) {
  const WeftCommand command = {};
  start(3, [&] {
    streams.keep({nullptr, &command, 1, 2, 3});
    return Status::success();
  });
  streams.record(3, 0);
  EXPECT_TRUE(streams.wait(0, 0));
  const std::vector<TraceEvent> events = streams.take();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].stream, 3);
  EXPECT_TRUE(streams.take().empty());
}

TEST_F(CommandStreamsTest, ExceptionsAreErrors) {
  EXPECT_TRUE(streams.start(3, []() -> Status { throw std::bad_alloc(); }));
  streams.record(3, 0);
  Status status = streams.wait(0, 0);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ExitCode::DoesNotFit);
}

} // namespace
