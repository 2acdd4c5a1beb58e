//===- Schedule.cpp - Order of collectives --------------------------------===//

#include "weft/Schedule/Passes.h"

#include "ExplainSchedule.h"
#include "ScheduleUnits.h"

#include <deque>

namespace weft {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "weft/Schedule/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
/// Goes through a program in its order and says what comes when.
class Scheduler {
public:
  Scheduler(const AsyncProgram &program, int64_t prefetch)
      : program(program), units(program), prefetch(prefetch),
        isPut(program.getCommands().size()),
        isDone(program.getCommands().size()) {}

  SmallVector<AsyncStep> run();

private:
  /// Late collectives in a row of one block whose sources are given back.
  struct Late {
    std::string block;
    SmallVector<unsigned> collectives;
  };

  void put(unsigned command);
  void begin(unsigned gather);
  void await(unsigned collective);
  void beginUnits(size_t count);
  void beginLate(unsigned collective);
  void endOldest();
  void putFollowers();
  bool isReady(unsigned follower) const;
  bool holdsMemory(unsigned collective) const;

  const AsyncProgram &program;
  const ScheduleUnits units;
  const int64_t prefetch;
  SmallVector<AsyncStep> steps;
  std::vector<bool> isPut, isDone; // by command; a collective that is awaited
  size_t nextUnit = 0;
  std::deque<Late> underWay;
  std::deque<unsigned> followers; // that are not put yet
};
} // namespace

/// What a command that computes needs of collectives is awaited before it;
/// among streams they await each other.
void Scheduler::put(unsigned command) {
  for (unsigned other : program.getDependences().before(command))
    if (!program.isAsync(command) && program.isAsync(other))
      await(other);
    else if (std::optional<unsigned> unit = units.findUnit(other))
      beginUnits(*unit + 1);
  steps.push_back({command});
  isPut[command] = true;
}

void Scheduler::begin(unsigned gather) {
  for (unsigned leader : units.getLeaders(gather))
    if (!isPut[leader])
      put(leader);
  put(gather);
}

/// The first `count` units, unless they have begun.
void Scheduler::beginUnits(size_t count) {
  for (; nextUnit < std::min(count, units.getGathers().size()); ++nextUnit)
    for (unsigned gather : units.getGathers()[nextUnit].gathers)
      begin(gather);
}

void Scheduler::await(unsigned collective) {
  if (isDone[collective])
    return;
  if (std::optional<unsigned> unit = units.findUnit(collective))
    beginUnits(*unit + 1 + static_cast<size_t>(prefetch));
  steps.push_back({collective, /*isWait=*/true});
  isDone[collective] = true;
}

/// Whether the bytes that it takes are given back when it is done.
bool Scheduler::holdsMemory(unsigned collective) const {
  plan::CommandOpInterface command = program.getCommands()[collective];
  return !plan::getRoot(command->getOperand(0)).getDefiningOp<plan::UseOp>();
}

void Scheduler::beginLate(unsigned collective) {
  if (prefetch == 0 || !holdsMemory(collective)) {
    put(collective);
    if (prefetch == 0)
      await(collective);
    return;
  }
  std::string block = units.getBlockOf(collective);
  if (underWay.empty() || block.empty() || underWay.back().block != block) {
    while (static_cast<int64_t>(underWay.size()) >= prefetch)
      endOldest();
    underWay.push_back({std::move(block), {}});
  }
  put(collective);
  underWay.back().collectives.push_back(collective);
}

void Scheduler::endOldest() {
  for (unsigned collective : underWay.front().collectives)
    await(collective);
  underWay.pop_front();
  putFollowers();
}

/// Whether nothing that it needs is missing or under way.
bool Scheduler::isReady(unsigned follower) const {
  return llvm::all_of(
      program.getDependences().before(follower), [&](unsigned other) {
        return isPut[other] && (!program.isAsync(other) || isDone[other]);
      });
}

void Scheduler::putFollowers() {
  for (size_t left = followers.size(); left > 0; --left) {
    unsigned next = followers.front();
    followers.pop_front();
    if (isReady(next))
      put(next);
    else
      followers.push_back(next);
  }
}

SmallVector<AsyncStep> Scheduler::run() {
  for (unsigned i = 0; i < program.getCommands().size(); ++i) {
    if (units.isLeader(i) || units.findUnit(i))
      continue;
    if (units.isFollower(i))
      followers.push_back(i);
    else if (units.isLate(i))
      beginLate(i);
    else
      put(i);
  }
  beginUnits(units.getGathers().size());
  for (; !followers.empty(); followers.pop_front())
    put(followers.front());
  return std::move(steps);
}

namespace {
struct SchedulePass : weft::impl::SchedulePassBase<SchedulePass> {
  using SchedulePassBase::SchedulePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (prefetch < 0) {
      module.emitError("expects `prefetch` of at least 0, but got ")
          << prefetch.getValue();
      return signalPassFailure();
    }
    for (auto op : module.getOps<plan::ProgramOp>()) {
      AsyncProgram program = AsyncProgram::read(op);
      program.write(Scheduler(program, prefetch).run());
      if (explain)
        explainSchedule(op);
    }
    if (failed(declareEvents(module)))
      signalPassFailure();
  }
};
} // namespace
