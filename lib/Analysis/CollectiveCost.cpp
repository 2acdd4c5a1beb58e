//===- CollectiveCost.cpp - Time of collectives on a cluster --------------===//

#include "weft/Analysis/CollectiveCost.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace weft;

/// `stride` groups interleave in each span of stride * ranks ranks of the mesh.
int64_t MachineCluster::countNodes(const RankGroup &group) const {
  const int64_t span = group.stride * group.ranks;
  int64_t most = 1;
  for (int64_t first = 0; first < std::max(group.world, span); first += span)
    for (int64_t begin = first; begin < first + group.stride; ++begin) {
      const int64_t last = begin + (group.ranks - 1) * group.stride;
      const int64_t between = last / ranksPerNode - begin / ranksPerNode + 1;
      most = std::max(most, std::min(between, group.ranks));
    }
  return most;
}

/// Mean number of ranks per node of a group that spans the most nodes.
double MachineCluster::countOnNode(const RankGroup &group) const {
  return static_cast<double>(group.ranks) /
         static_cast<double>(countNodes(group));
}

/// A rank's share of its node's network bandwidth, in GB/s, while all ranks of
/// the node send.
double MachineCluster::getNetworkShare(const RankGroup &group) const {
  return network->gigabytesPerSecond /
         static_cast<double>(std::min(ranksPerNode, group.world));
}

/// Gigabytes a second are 1e3 bytes a microsecond.
static double sendUs(double bytes, double gigabytesPerSecond) {
  return bytes / (gigabytesPerSecond * 1e3);
}

CollectiveTime MachineCluster::estimateGather(const RankGroup &group,
                                              double bytes) const {
  const auto nodes = static_cast<double>(countNodes(group));
  const double local = countOnNode(group);
  const auto ranks = static_cast<double>(group.ranks);
  const bool hasLocal = local > 1;
  if (nodes == 1) {
    const double messages =
        algorithm == GatherAlgorithm::Direct ? 1 : ranks - 1;
    return {messages * node->latencyUs,
            sendUs((ranks - 1) * bytes, node->gigabytesPerSecond)};
  }
  const double share = getNetworkShare(group);
  switch (algorithm) {
  case GatherAlgorithm::Ring: {
    // All ranks of a node share one link to the next node.
    double slowest = share * local;
    if (hasLocal)
      slowest = std::min(slowest, node->gigabytesPerSecond);
    return {(ranks - nodes) * node->latencyUs +
                (nodes - 1) * network->latencyUs,
            sendUs((ranks - 1) * bytes, slowest)};
  }
  case GatherAlgorithm::Direct: {
    const double outside = sendUs((ranks - local) * bytes, share);
    const double inside =
        hasLocal ? sendUs((local - 1) * bytes, node->gigabytesPerSecond) : 0;
    return {network->latencyUs, std::max(outside, inside)};
  }
  case GatherAlgorithm::Hierarchical:
    break;
  }
  CollectiveTime time = {(nodes - 1) * network->latencyUs,
                         sendUs((nodes - 1) * bytes, share)};
  if (hasLocal) {
    time.latencyUs += (local - 1) * node->latencyUs;
    time.linkUs +=
        sendUs((local - 1) * nodes * bytes, node->gigabytesPerSecond);
  }
  return time;
}

CollectiveTime MachineCluster::estimateAllReduce(const RankGroup &group,
                                                 double bytes) const {
  const auto nodes = static_cast<uint64_t>(countNodes(group));
  const auto local = static_cast<uint64_t>(std::ceil(countOnNode(group)));
  CollectiveTime time;
  auto add = [&](uint64_t members, const ClusterLink &link, double rate) {
    const double messages = 2.0 * llvm::Log2_64_Ceil(members);
    time.latencyUs += messages * link.latencyUs;
    time.linkUs += messages * sendUs(bytes, rate);
  };
  if (local > 1)
    add(local, *node, node->gigabytesPerSecond);
  if (nodes > 1)
    add(nodes, *network, getNetworkShare(group));
  return time;
}
