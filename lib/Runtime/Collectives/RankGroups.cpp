//===- RankGroups.cpp - The ranks that a context works with ---------------===//

#include "weft/Runtime/Collectives/RankGroups.h"

using namespace weft;

namespace {
struct Groups {
  std::unique_ptr<Communicator> all; // until the rank leaves
  Absence absence;                   // when it left
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

void weft::joinRanks(WeftContext &context, std::unique_ptr<Transport> all) {
  groupsOf(context)->all = std::make_unique<Communicator>(std::move(all));
}

/// Of a mesh of one axis both groups are all ranks.
Communicator *weft::findRanks(WeftContext &context, int64_t group) {
  if (group != 0 && group != 1)
    return nullptr;
  return groupsOf(context)->all.get();
}

void weft::leaveRanks(WeftContext &context) {
  Groups &groups = *groupsOf(context);
  groups.absence = absenceOf(context);
  groups.all.reset();
}

Absence weft::absenceOf(WeftContext &context) {
  const Groups &groups = *groupsOf(context);
  return groups.all ? groups.all->connection().absence() : groups.absence;
}

Status weft::takeRankMeans(WeftContext &context, std::vector<double> &numbers,
                           const std::string &title) {
  Communicator *all = findRanks(context, 0);
  if (!all)
    return Error(ExitCode::Communication,
                 "expects rank " + std::to_string(context.rank()) + " in " +
                     title + ", but it has left the run");
  const size_t ranks = size_t(all->ranks());
  std::vector<double> each(numbers.size() * ranks);
  if (Status s =
          all->allGather(numbers.data(), each.data(),
                         int64_t(numbers.size() * sizeof(double)), title);
      !s)
    return s;
  for (size_t i = 0; i < numbers.size(); ++i) {
    double sum = 0;
    for (size_t rank = 0; rank < ranks; ++rank)
      sum += each[rank * numbers.size() + i];
    numbers[i] = sum / double(ranks);
  }
  return Status::success();
}
