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
