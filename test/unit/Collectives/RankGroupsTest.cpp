//===- RankGroupsTest.cpp - The ranks along the axes of a mesh ------------===//

#include "weft/Runtime/Collectives/RankGroups.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>

using namespace weft;

namespace {

TEST(RankGroups, FirstAlongAnAxis) {
  const std::vector<int> mesh = {2, 3}; // ranks 0 1 2, then 3 4 5
  for (auto [rank, ofReplicas, ofSlices] :
       {std::array{0, 0, 0}, {2, 2, 0}, {3, 0, 3}, {5, 2, 3}}) {
    EXPECT_EQ(firstAlong(mesh, 0, rank), ofReplicas) << rank;
    EXPECT_EQ(firstAlong(mesh, 1, rank), ofSlices) << rank;
  }
}

TEST(RankGroups, OneAxisHasNoGroupsOfItsOwn) {
  auto ranks = connectThreads({3});
  ASSERT_EQ(ranks.size(), 3u);
  EXPECT_EQ(ranks[2].size(), 1u);
}

/// Checks the messages of each rank's groups, by axis, as `connect` makes them.
template <typename Connect> void expectGroups(Connect connect) {
  auto all = connectThreads({2, 3});
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 6; ++rank)
    threads.emplace_back([&, rank] {
      RankConnections own = connect(std::move(all[size_t(rank)]));
      ASSERT_EQ(own.size(), 3u);
      auto replicas = own[1]->gather(rank, "replicas");
      auto slices = own[2]->gather(rank, "slices");
      ASSERT_TRUE(replicas && slices);
      const int slice = rank % 3, first = rank - slice;
      EXPECT_EQ(*replicas, (std::vector<int>{slice, slice + 3}));
      EXPECT_EQ(*slices, (std::vector<int>{first, first + 1, first + 2}));
      EXPECT_EQ(own[2]->nameOf(own[2]->rank()), rank);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(RankGroups, ThreadsMeetAlongEachAxis) {
  expectGroups([](RankConnections own) { return own; });
}

TEST(RankGroups, SplitsMakeTheSameGroups) {
  expectGroups([](RankConnections own) {
    auto made = connectAlong({2, 3}, std::move(own.front()));
    EXPECT_TRUE(made.ok());
    return std::move(*made);
  });
}

// Messages have the numbers of the run, not those in the group.
TEST(RankGroups, NamesTheRankOfTheRun) {
  auto all = connectThreads({2, 2});
  all[3].clear();
  auto heard = all[2][2]->gather(1, "a step");
  ASSERT_FALSE(heard);
  EXPECT_EQ(heard.error().where(),
            "expects rank 3 in a step, but it has left the run");
  EXPECT_EQ(all[2][2]->absence().ranks, std::vector<int>{3});
}

} // namespace
