//===- ClusterTest.cpp - Collectives on nodes and the network -------------===//

#include "weft/Analysis/CollectiveCost.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <set>

using namespace weft;

namespace {

/// 4 ranks a node; 100 GB/s and 5 us inside, 40 GB/s of a node and 20 us
/// between them.
MachineCluster makeCluster(GatherAlgorithm algorithm) {
  MachineCluster cluster;
  cluster.ranksPerNode = 4;
  cluster.algorithm = algorithm;
  cluster.node = ClusterLink{100, 5};
  cluster.network = ClusterLink{40, 20};
  return cluster;
}

RankGroup makeGroup(int64_t ranks, int64_t stride, int64_t world) {
  RankGroup group;
  group.ranks = ranks;
  group.stride = stride;
  group.world = world;
  return group;
}

constexpr double kMegabyte = 1e6;

TEST(MachineCluster, CountsTheNodesOfAGroup) {
  const MachineCluster cluster = makeCluster(GatherAlgorithm::Ring);
  EXPECT_EQ(cluster.countNodes(makeGroup(4, 1, 16)), 1);
  EXPECT_EQ(cluster.countNodes(makeGroup(16, 1, 16)), 4);
  EXPECT_EQ(cluster.countNodes(makeGroup(6, 1, 6)), 2);
  // Replicas of slices of two ranks: two of them on a node.
  EXPECT_EQ(cluster.countNodes(makeGroup(8, 2, 16)), 4);
  EXPECT_EQ(cluster.countNodes(makeGroup(4, 4, 16)), 4);
  EXPECT_EQ(cluster.countNodes(makeGroup(2, 8, 16)), 2);
  // Slices of three ranks: 3, 4 and 5 are on two nodes.
  EXPECT_EQ(cluster.countNodes(makeGroup(3, 1, 12)), 2);
  EXPECT_EQ(cluster.countNodes(makeGroup(3, 1, 3)), 1);
  // Replicas of slices of three: 0, 3, .. 21 are on six nodes.
  EXPECT_EQ(cluster.countNodes(makeGroup(8, 3, 24)), 6);
}

/// By looking at every rank.
int64_t countSlowly(const RankGroup &group, int64_t ranksPerNode) {
  size_t most = 0;
  for (int64_t rank = 0; rank < group.world; ++rank) {
    if (rank % (group.stride * group.ranks) >= group.stride)
      continue;
    std::set<int64_t> nodes;
    for (int64_t i = 0; i < group.ranks; ++i)
      nodes.insert((rank + i * group.stride) / ranksPerNode);
    most = std::max(most, nodes.size());
  }
  return static_cast<int64_t>(most);
}

TEST(MachineCluster, CountsTheNodesOfAnyMesh) {
  MachineCluster cluster;
  for (cluster.ranksPerNode = 1; cluster.ranksPerNode <= 9;
       ++cluster.ranksPerNode)
    for (int64_t replicas = 1; replicas <= 7; ++replicas)
      for (int64_t shards = 1; shards <= 7; ++shards)
        for (const RankGroup &group :
             {makeGroup(shards, 1, replicas * shards),
              makeGroup(replicas, shards, replicas * shards),
              makeGroup(replicas * shards, 1, replicas * shards)})
          EXPECT_EQ(cluster.countNodes(group),
                    countSlowly(group, cluster.ranksPerNode))
              << cluster.ranksPerNode << " " << replicas << " " << shards;
}

TEST(MachineCluster, OnOneNodeNothingCrossesTheNetwork) {
  for (GatherAlgorithm algorithm :
       {GatherAlgorithm::Ring, GatherAlgorithm::Direct,
        GatherAlgorithm::Hierarchical}) {
    const CollectiveTime time =
        makeCluster(algorithm).estimateGather(makeGroup(4, 1, 16), kMegabyte);
    EXPECT_DOUBLE_EQ(time.linkUs, 30);
    EXPECT_DOUBLE_EQ(time.latencyUs,
                     algorithm == GatherAlgorithm::Direct ? 5 : 15);
  }
}

TEST(MachineCluster, ARingCrossesTheNetworkOncePerNode) {
  const MachineCluster cluster = makeCluster(GatherAlgorithm::Ring);
  // 15 MB over the one link to the next node.
  const CollectiveTime all =
      cluster.estimateGather(makeGroup(16, 1, 16), kMegabyte);
  EXPECT_DOUBLE_EQ(all.linkUs, 375);
  EXPECT_DOUBLE_EQ(all.latencyUs, 12 * 5 + 3 * 20);
  // Four rings at a time, a rank of each on every node: 10 GB/s for each.
  const CollectiveTime replicas =
      cluster.estimateGather(makeGroup(4, 4, 16), kMegabyte);
  EXPECT_DOUBLE_EQ(replicas.linkUs, 300);
  EXPECT_DOUBLE_EQ(replicas.latencyUs, 60);
  // A network that is faster than the links inside does not help.
  MachineCluster fast = cluster;
  fast.network->gigabytesPerSecond = 4000;
  EXPECT_DOUBLE_EQ(fast.estimateGather(makeGroup(16, 1, 16), kMegabyte).linkUs,
                   150);
}

TEST(MachineCluster, DirectMessagesShareTheNetworkOfTheNode) {
  const CollectiveTime time =
      makeCluster(GatherAlgorithm::Direct)
          .estimateGather(makeGroup(16, 1, 16), kMegabyte);
  // 12 MB of each of four ranks to other nodes.
  EXPECT_DOUBLE_EQ(time.linkUs, 1200);
  EXPECT_DOUBLE_EQ(time.latencyUs, 20);
}

TEST(MachineCluster, InTwoLevelsEachPartCrossesTheNetworkOncePerNode) {
  const CollectiveTime time =
      makeCluster(GatherAlgorithm::Hierarchical)
          .estimateGather(makeGroup(16, 1, 16), kMegabyte);
  // 3 MB at 10 GB/s, then 3 times 4 MB at 100 GB/s.
  EXPECT_DOUBLE_EQ(time.linkUs, 300 + 120);
  EXPECT_DOUBLE_EQ(time.latencyUs, 3 * 20 + 3 * 5);
}

TEST(MachineCluster, NumbersGoUpAndDownATree) {
  const MachineCluster cluster = makeCluster(GatherAlgorithm::Ring);
  EXPECT_DOUBLE_EQ(cluster.estimateAllReduce(makeGroup(4, 1, 4), 0).latencyUs,
                   20);
  EXPECT_DOUBLE_EQ(cluster.estimateAllReduce(makeGroup(16, 1, 16), 0).latencyUs,
                   20 + 80);
  EXPECT_DOUBLE_EQ(cluster.estimateAllReduce(makeGroup(12, 1, 12), 0).latencyUs,
                   20 + 80);
  EXPECT_DOUBLE_EQ(cluster.estimateAllReduce(makeGroup(4, 4, 16), 0).latencyUs,
                   80);
}

TEST(MachineCluster, MoreRanksNeverTakeLess) {
  for (GatherAlgorithm algorithm :
       {GatherAlgorithm::Ring, GatherAlgorithm::Direct,
        GatherAlgorithm::Hierarchical}) {
    const MachineCluster cluster = makeCluster(algorithm);
    double before = 0;
    for (int64_t ranks = 2; ranks <= 4096; ranks *= 2) {
      const CollectiveTime time =
          cluster.estimateGather(makeGroup(ranks, 1, ranks), kMegabyte);
      EXPECT_GT(time.latencyUs + time.linkUs, before) << ranks;
      before = time.latencyUs + time.linkUs;
    }
  }
}

} // namespace
