//===- CollectiveCounters.cpp - Cost of collectives on a rank -------------===//

#include "weft/Runtime/Collectives/CollectiveCounters.h"

#include "weft/Base/Text.h"
#include "weft/Runtime/Collectives/RankGroups.h"

#include <cstdio>

using namespace weft;

namespace {
struct KindName {
  Collective kind;
  const char *name;
};
} // namespace

static const KindName kKinds[] = {{Collective::AllGather, "all_gather"},
                                  {Collective::ReduceScatter, "reduce_scatter"},
                                  {Collective::AllReduce, "all_reduce"}};

static void add(CollectiveCount &sum, const CollectiveCount &one) {
  sum.calls += one.calls;
  sum.bytes += one.bytes;
  sum.nanoseconds += one.nanoseconds;
}

CollectiveCount weft::costOf(WeftContext &context, Collective kind) {
  CollectiveCount sum;
  for (const Communicator *one : allRanks(context))
    add(sum, one->count(kind));
  return sum;
}

/// The time is measured on stream 0, which waits for the other streams.
CollectiveCount weft::costOfPrograms(WeftContext &context) {
  CollectiveCount sum;
  for (const KindName &each : kKinds)
    add(sum, costOf(context, each.kind));
  const CommandStreams *streams = streamsOf(context);
  sum.nanoseconds = streams ? streams->waitedNs() : 0;
  for (const Communicator *one : ranksOf(context, /*stream=*/0))
    for (const KindName &each : kKinds)
      sum.nanoseconds += one->count(each.kind).nanoseconds;
  return sum;
}

std::string weft::costText(WeftContext &context) {
  std::string text;
  for (const KindName &each : kKinds) {
    const CollectiveCount cost = costOf(context, each.kind);
    if (cost.calls == 0)
      continue;
    char ms[40];
    std::snprintf(ms, sizeof ms, "%.1f", double(cost.nanoseconds) * 1e-6);
    text += (text.empty() ? "" : "; ") + std::string(each.name) + " " +
            std::to_string(cost.calls) + " calls, " + humanBytes(cost.bytes) +
            " sent, " + ms + " ms";
  }
  return text;
}
