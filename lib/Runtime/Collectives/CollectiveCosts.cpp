//===- CollectiveCosts.cpp - What collectives cost a rank -----------------===//

#include "weft/Runtime/Collectives/CollectiveCosts.h"

#include "weft/Formats/Text.h"
#include "weft/Runtime/Collectives/RankGroups.h"

#include <cstdio>
#include <set>

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

/// Several groups may be one communicator.
static std::set<const Communicator *> communicatorsOf(WeftContext &context) {
  std::set<const Communicator *> all;
  for (int64_t group = 0; const Communicator *one = findRanks(context, group);
       ++group)
    all.insert(one);
  return all;
}

static void add(CollectiveCount &sum, const CollectiveCount &one) {
  sum.calls += one.calls;
  sum.bytes += one.bytes;
  sum.nanoseconds += one.nanoseconds;
}

CollectiveCount weft::costOf(WeftContext &context, Collective kind) {
  CollectiveCount sum;
  for (const Communicator *one : communicatorsOf(context))
    add(sum, one->count(kind));
  return sum;
}

CollectiveCount weft::costOfPrograms(WeftContext &context) {
  CollectiveCount sum;
  for (const KindName &each : kKinds)
    add(sum, costOf(context, each.kind));
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
