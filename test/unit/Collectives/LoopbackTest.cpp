//===- LoopbackTest.cpp - Collectives of threads of one process -----------===//

#include "LoopbackRanks.h"

#include <gtest/gtest.h>

#include <atomic>

using namespace weft;

namespace {

struct Case {
  int ranks;
  RankCheck check;
};

class LoopbackCheck : public ::testing::TestWithParam<Case> {};

TEST_P(LoopbackCheck, Holds) {
  onLoopback(GetParam().ranks, GetParam().check.run);
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (int ranks : {1, 2, 3, 4, 8})
    for (const RankCheck &check : kRankChecks)
      cases.push_back({ranks, check});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Ranks, LoopbackCheck, ::testing::ValuesIn(allCases()),
                         [](const ::testing::TestParamInfo<Case> &info) {
                           return std::string(info.param.check.name) +
                                  std::to_string(info.param.ranks);
                         });

// All that wait for one that leaves hear of the same one, by name.
TEST(Loopback, NamesTheRankThatLeft) {
  auto all = connectLoopback(3);
  std::thread waiter([&] {
    auto heard = all[0]->gather(1, "a step");
    ASSERT_FALSE(heard);
    EXPECT_EQ(heard.error().where(),
              "expects rank 2 in a step, but it has left the run");
    EXPECT_EQ(all[0]->missing(), std::vector<int>{2});
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  all[2].reset();
  waiter.join();
  // One that comes later.
  auto heard = all[1]->gather(1, "a step");
  ASSERT_FALSE(heard);
  EXPECT_EQ(heard.error().where(),
            "expects rank 2 in a step, but it has left the run");
}

TEST(Loopback, NamesAllThatAreMissing) {
  auto all = connectLoopback(4);
  all[1]->setTimeout(0.1);
  EXPECT_EQ(all[1]->gather(1, "a step").error().where(),
            "rank 1 expects ranks 0, 2 and 3 in a step, but they have not come "
            "for 0.1 s");
}

// A rank that comes is progress: the time starts again.
TEST(Loopback, WaitsOnWhileRanksCome) {
  std::atomic<int> good{0};
  auto all = connectLoopback(4);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 4; ++rank)
    threads.emplace_back([&, rank] {
      all[size_t(rank)]->setTimeout(0.6);
      std::this_thread::sleep_for(std::chrono::milliseconds(350 * rank));
      good += all[size_t(rank)]->gather(1, "a step").ok();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(good, 4);
}

TEST(Transport, RefusesWrongSizes) {
  auto all = connectLoopback(1);
  const char *send = nullptr;
  char *receive = nullptr;
  EXPECT_EQ(all[0]->exchange(&send, &receive, -1).error().where(),
            "expects pieces of 0 or more bytes, but got -1");
}

} // namespace
