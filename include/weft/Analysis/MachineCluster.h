//===- MachineCluster.h - Collectives on nodes and the network --*- C++ -*-===//
//
// How long ranks on several nodes take to send to each other, by the links they
// have and the way that a collective goes. Ranks of a node are numbered in a
// row.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_MACHINECLUSTER_H
#define WEFT_ANALYSIS_MACHINECLUSTER_H

#include <cstdint>
#include <optional>

namespace weft {

/// How a gather goes; a reduction goes the other way round.
enum class GatherAlgorithm {
  /// Each rank passes on to the next one what it got from the one before it.
  Ring,
  /// Each rank sends its part to every other one.
  Direct,
  /// Ranks of the same place on their nodes first, then those of a node.
  Hierarchical,
};

struct ClusterLink {
  double gigabytesPerSecond = 0;
  double latencyUs = 0; // of one message
};

/// The ranks that a collective is among.
struct RankGroup {
  int64_t ranks = 1;  // of the group
  int64_t stride = 1; // between the numbers of two of them
  int64_t world = 1;  // ranks of the mesh
};

/// Time in microseconds, apart: what the messages take to get there, and what
/// their bytes take.
struct CollectiveTime {
  double latencyUs = 0, linkUs = 0;
};

struct Cluster {
  int64_t ranksPerNode = 1;
  /// That compute on one core in turns, at least 1: what is computed, and
  /// collectives without `node`, take as many times longer.
  double ranksPerCore = 1;
  GatherAlgorithm algorithm = GatherAlgorithm::Ring;
  /// What one rank sends to others of its node.
  std::optional<ClusterLink> node;
  /// What all ranks of a node together send to other nodes.
  std::optional<ClusterLink> network;

  /// The most nodes that a group of these lies on; more than one need a
  /// network.
  int64_t countNodes(const RankGroup &group) const;
  /// A gather to which each rank gives `bytes`, or a reduction of which each
  /// gets as many. Precondition: the links that it needs are there.
  CollectiveTime getGather(const RankGroup &group, double bytes) const;
  /// A few numbers of all ranks: up and down a tree.
  CollectiveTime getAllReduce(const RankGroup &group, double bytes) const;

private:
  double countOnNode(const RankGroup &group) const;
  double getNetworkShare(const RankGroup &group) const;
};

} // namespace weft

#endif // WEFT_ANALYSIS_MACHINECLUSTER_H
