//===- RankGroups.cpp - The ranks that a context works with ---------------===//

#include "weft/Runtime/Collectives/RankGroups.h"

using namespace weft;

/// Its address names the state in a context.
static const char kKey = 0;

namespace {
/// Of a context that has joined ranks; without a connection it has left them.
struct Joined {
  std::unique_ptr<Communicator> all;
};
} // namespace

static Joined *findJoined(WeftContext &context) {
  return static_cast<Joined *>(context.state(&kKey).get());
}

void weft::joinRanks(WeftContext &context, std::unique_ptr<Transport> all) {
  auto joined = std::make_shared<Joined>();
  joined->all = std::make_unique<Communicator>(std::move(all));
  context.state(&kKey) = std::move(joined);
}

/// Of a mesh of one axis both groups are all ranks.
Communicator *weft::findRanks(WeftContext &context, int64_t group) {
  Joined *joined = findJoined(context);
  return joined && (group == 0 || group == 1) ? joined->all.get() : nullptr;
}

void weft::leaveRanks(WeftContext &context) {
  if (Joined *joined = findJoined(context))
    joined->all.reset();
}

Status weft::takeRankMeans(WeftContext &context, std::vector<double> &numbers,
                           const std::string &title) {
  const int ranks = context.ranks();
  if (ranks == 1 || !findJoined(context))
    return Status::success();
  Communicator *all = findRanks(context, 0);
  if (!all)
    return Error(ExitCode::Communication,
                 "expects rank " + std::to_string(context.rank()) + " in " +
                     title + ", but it has left the run");
  std::vector<double> each(numbers.size() * size_t(ranks));
  if (Status s = all->gather(numbers.data(), each.data(),
                             int64_t(numbers.size() * sizeof(double)), title);
      !s)
    return s;
  for (size_t i = 0; i < numbers.size(); ++i) {
    double sum = 0;
    for (size_t rank = 0; rank < size_t(ranks); ++rank)
      sum += each[rank * numbers.size() + i];
    numbers[i] = sum / double(ranks);
  }
  return Status::success();
}
