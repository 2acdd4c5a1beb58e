//===- CollectiveCost.h - Time of collectives on a cluster ------*- C++ -*-===//
//
// Estimates collectives of ranks on several nodes from the links and the
// collective algorithm. Ranks of a node have consecutive numbers.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_ANALYSIS_COLLECTIVECOST_H
#define WEFT_ANALYSIS_COLLECTIVECOST_H

#include <cstdint>
#include <optional>

namespace weft {

/// Algorithm of a gather. A reduction runs the same steps in reverse.
enum class GatherAlgorithm {
  /// Each rank forwards data from the previous rank to the next one.
  Ring,
  /// Each rank sends its shard to every other rank.
  Direct,
  /// Ranks with the same index on their nodes exchange data first, then the
  /// ranks within each node.
  Hierarchical,
};

struct ClusterLink {
  double gigabytesPerSecond = 0;
  double latencyUs = 0; // of one message
};

/// The ranks that take part in a collective.
struct RankGroup {
  int64_t ranks = 1;  // of the group
  int64_t stride = 1; // between the numbers of two of them
  int64_t world = 1;  // ranks of the mesh
};

/// Microseconds of a collective: message latency and transfer time.
struct CollectiveTime {
  double latencyUs = 0, linkUs = 0;
};

struct MachineCluster {
  int64_t ranksPerNode = 1;
  /// Ranks that share one core, at least 1. Computation takes this many times
  /// longer, and so do collectives without `node`.
  double ranksPerCore = 1;
  GatherAlgorithm algorithm = GatherAlgorithm::Ring;
  /// Link from one rank to the other ranks of its node.
  std::optional<ClusterLink> node;
  /// Link to other nodes, shared by all ranks of a node.
  std::optional<ClusterLink> network;

  /// Largest number of nodes that such a group spans. More than one node
  /// requires `network`.
  int64_t countNodes(const RankGroup &group) const;
  /// A gather to which each rank contributes `bytes`, or a reduction from which
  /// each rank receives `bytes`. Precondition: the links that it needs are set.
  CollectiveTime estimateGather(const RankGroup &group, double bytes) const;
  /// Reduces a few numbers over all ranks, up and down a tree.
  CollectiveTime estimateAllReduce(const RankGroup &group, double bytes) const;

private:
  double countOnNode(const RankGroup &group) const;
  double getNetworkShare(const RankGroup &group) const;
};

} // namespace weft

#endif // WEFT_ANALYSIS_COLLECTIVECOST_H
