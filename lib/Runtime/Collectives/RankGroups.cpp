//===- RankGroups.cpp - Connections of a context to other ranks -----------===//

#include "weft/Runtime/Collectives/RankGroups.h"

#include "weft/Abi/CollectiveRecords.h"
#include "weft/Base/Text.h"
#include "weft/Runtime/Collectives/Transport.h"
#include "weft/Runtime/Execute/DTypes.h"

#include <cstdio>
#include <functional>
#include <numeric>

using namespace weft;

//===----------------------------------------------------------------------===//
// Connections
//===----------------------------------------------------------------------===//

int weft::firstAlong(const std::vector<int> &mesh, size_t axis, int rank) {
  const int stride = std::accumulate(mesh.begin() + long(axis) + 1, mesh.end(),
                                     1, std::multiplies<>());
  return rank - rank / stride % mesh[axis] * stride;
}

/// Axes along which ranks are connected besides all of them.
static size_t countGroups(const std::vector<int> &mesh) {
  return mesh.size() > 1 ? mesh.size() : 0;
}

/// Adds to the connections of each rank those with the ranks along the axis.
static void connectThreadsAlong(const std::vector<int> &mesh, size_t axis,
                                std::vector<RankConnections> &ranks) {
  for (int first = 0; first < int(ranks.size()); ++first) {
    std::vector<int> members;
    for (int rank = first; rank < int(ranks.size()); ++rank)
      if (firstAlong(mesh, axis, rank) == first)
        members.push_back(rank);
    auto group = connectLoopback(members);
    for (size_t i = 0; i < members.size(); ++i)
      ranks[size_t(members[i])].push_back(std::move(group[i]));
  }
}

std::vector<RankConnections>
weft::connectThreads(const std::vector<int> &mesh) {
  auto all = connectLoopback(
      std::accumulate(mesh.begin(), mesh.end(), 1, std::multiplies<>()));
  std::vector<RankConnections> ranks(all.size());
  for (size_t rank = 0; rank < all.size(); ++rank)
    ranks[rank].push_back(std::move(all[rank]));
  for (size_t axis = 0; axis < countGroups(mesh); ++axis)
    connectThreadsAlong(mesh, axis, ranks);
  return ranks;
}

Expected<RankConnections> weft::connectAlong(const std::vector<int> &mesh,
                                             std::unique_ptr<Transport> all) {
  RankConnections connections;
  connections.push_back(std::move(all));
  Transport &ranks = *connections.front();
  for (size_t axis = 0; axis < countGroups(mesh); ++axis) {
    auto group = ranks.split(firstAlong(mesh, axis, ranks.rank()));
    if (!group)
      return group.takeError();
    connections.push_back(std::move(*group));
  }
  return connections;
}

//===----------------------------------------------------------------------===//
// Groups of a context
//===----------------------------------------------------------------------===//

namespace {
struct Groups {
  // All ranks, then those along each axis; until the rank leaves.
  CommandStreams::Groups list;
  std::unique_ptr<CommandStreams> streams;
  Absence absence; // when it left
};
} // namespace

static Groups *groupsOf(WeftContext &context) {
  // Its address names the state in a context.
  static const char key = 0;
  std::shared_ptr<void> &state = context.state(&key);
  if (!state)
    state = std::make_shared<Groups>();
  return static_cast<Groups *>(state.get());
}

static CommandStreams::Groups makeGroups(RankConnections connections) {
  CommandStreams::Groups groups;
  for (std::unique_ptr<Transport> &each : connections)
    groups.push_back(std::make_unique<Communicator>(std::move(each)));
  return groups;
}

namespace {
/// The meetings of a device, over the connections of its context.
class ContextMeetings final : public RankMeetings {
public:
  explicit ContextMeetings(WeftContext &context) : context(context) {
    const Transport &all = findRanks(context, 0)->connection();
    own = all.rank();
    ranks = all.ranks();
    heartbeats = all.heartbeats();
  }

  Expected<Place> placeIn(int64_t group) const override {
    if (ranksOf(context, /*stream=*/0).empty())
      return communicationError("expects rank ", context.rank(),
                                " among its ranks, but it has left the run");
    const Communicator *ranks = findRanks(context, group);
    if (!ranks)
      return internalError("expects a group of the mesh, but got ", group);
    return Place{ranks->rank(), ranks->ranks()};
  }

  bool hasOneLeft() const override {
    for (int rank = 0; rank < ranks; ++rank)
      if (rank != own && heartbeats && heartbeats->hasLeft(rank))
        return true;
    return false;
  }

  int64_t countHeartbeats() const override {
    int64_t count = 0;
    for (int rank = 0; rank < ranks; ++rank)
      if (rank != own && heartbeats)
        count += heartbeats->count(rank);
    return count;
  }

  void leaveWordTo(int rank) override {
    groupsOf(context)->absence = {{rank}, /*haveLeft=*/true};
  }

  void setTimeout(double seconds) override {
    for (Communicator *each : ranksOf(context, /*stream=*/0))
      each->setTimeout(seconds);
  }

private:
  Status gatherBytes(int64_t group, const void *own, void *all, int64_t bytes,
                     std::string_view title) override {
    return findRanks(context, group)
        ->allGather(own, all, bytes, title, Collective::Numbers);
  }

  WeftContext &context;
  int own = 0, ranks = 1;
  std::shared_ptr<Heartbeats> heartbeats;
};
} // namespace

std::shared_ptr<RankMeetings> weft::meetingsOf(WeftContext &context) {
  return std::make_shared<ContextMeetings>(context);
}

void weft::joinRanks(WeftContext &context, RankConnections connections,
                     StreamConnections streams) {
  Groups &groups = *groupsOf(context);
  groups.list = makeGroups(std::move(connections));
  std::map<int64_t, CommandStreams::Groups> ofStreams;
  for (auto &[number, each] : streams)
    ofStreams[number] = makeGroups(std::move(each));
  if (!ofStreams.empty())
    groups.streams = std::make_unique<CommandStreams>(std::move(ofStreams));
}

CommandStreams *weft::streamsOf(WeftContext &context) {
  return groupsOf(context)->streams.get();
}

static const CommandStreams::Groups *findGroups(WeftContext &context,
                                                int64_t stream) {
  if (stream == 0)
    return &groupsOf(context)->list;
  const CommandStreams *streams = streamsOf(context);
  return streams ? streams->find(stream) : nullptr;
}

/// Of a mesh of one axis both groups are all ranks.
Communicator *weft::findRanks(WeftContext &context, int64_t group,
                              int64_t stream) {
  const CommandStreams::Groups *list = findGroups(context, stream);
  if (list && list->size() == 1 && group == 1)
    group = 0;
  const bool exists = list && group >= 0 && group < int64_t(list->size());
  return exists ? (*list)[size_t(group)].get() : nullptr;
}

std::vector<Communicator *> weft::ranksOf(WeftContext &context,
                                          int64_t stream) {
  std::vector<Communicator *> found;
  if (const CommandStreams::Groups *list = findGroups(context, stream))
    for (const std::unique_ptr<Communicator> &each : *list)
      found.push_back(each.get());
  return found;
}

std::vector<Communicator *> weft::allRanks(WeftContext &context) {
  std::vector<Communicator *> found = ranksOf(context, 0);
  if (const CommandStreams *streams = streamsOf(context))
    for (int64_t stream : streams->numbers())
      for (Communicator *each : ranksOf(context, stream))
        found.push_back(each);
  return found;
}

void weft::leaveRanks(WeftContext &context) {
  Groups &groups = *groupsOf(context);
  groups.absence = absenceOf(context);
  groups.streams.reset();
  groups.list.clear();
}

Absence weft::absenceOf(WeftContext &context) {
  if (CommandStreams *streams = streamsOf(context))
    streams->stop();
  for (const Communicator *each : allRanks(context))
    if (!each->connection().absence().ranks.empty())
      return each->connection().absence();
  return groupsOf(context)->absence;
}

//===- Costs of collectives -----------------------------------------------===//

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
    text += concat(text.empty() ? "" : "; ", each.name, " ", cost.calls,
                   " calls, ", humanBytes(cost.bytes), " sent, ", ms, " ms");
  }
  return text;
}

/// All numbers travel as f64.
static constexpr int64_t kNumberBytes = 8;

/// Of the slice that a rank sends to each other rank.
static int64_t pieceBytes(const WeftCommand &command) {
  const std::string_view name = command.name;
  if (name == "all_gather") {
    const auto &record =
        *static_cast<const WeftAllGatherRecord *>(command.record);
    return record.elements * dtypeBytes(int32_t(record.dtype));
  }
  if (name == "reduce_scatter") {
    const auto &record =
        *static_cast<const WeftReduceScatterRecord *>(command.record);
    return record.elements * dtypeBytes(int32_t(record.dtype));
  }
  if (name == "all_reduce")
    return kNumberBytes *
           static_cast<const WeftAllReduceRecord *>(command.record)->count;
  return 0; // own_slice and rank send nothing
}

int64_t weft::sentBytes(const WeftProgram &program) {
  int64_t bytes = 0;
  for (const WeftCommand &command : commandsOf(program))
    if (const WeftRankGroup *among = findRankGroup(command))
      bytes += (among->ranks - 1) * pieceBytes(command);
  return bytes;
}

//===- Numbers of all ranks -----------------------------------------------===//

Expected<RankNumbers> weft::gatherNumbers(WeftContext &context,
                                          const std::vector<double> &own,
                                          const std::string &title) {
  Communicator *all = findRanks(context, 0);
  if (!all)
    return leftError(context.rank(), title);
  std::vector<double> each(own.size() * size_t(all->ranks()));
  if (Status s = all->allGather(own.data(), each.data(),
                                int64_t(own.size() * sizeof(double)), title,
                                Collective::Numbers);
      !s)
    return s.takeError();
  RankNumbers numbers;
  for (auto at = each.begin(); at != each.end(); at += ptrdiff_t(own.size()))
    numbers.emplace_back(at, at + ptrdiff_t(own.size()));
  return numbers;
}

double weft::sumOverRanks(const RankNumbers &all, size_t i) {
  double sum = 0;
  for (const std::vector<double> &ofRank : all)
    sum += ofRank[i];
  return sum;
}
