//===- Schedule.cpp - Order of collectives --------------------------------===//

#include "ScheduleUnits.h"

#include "weft/Analysis/Timeline.h"
#include "weft/Base/CountText.h"
#include "weft/Plan/Plan.h"
#include "weft/Plan/PlanCollectives.h"
#include "weft/Plan/Transfers.h"
#include "weft/Schedule/Passes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/FormatVariadic.h"

#include <deque>

namespace weft {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "weft/Schedule/Passes.h.inc"
} // namespace weft

#define DEBUG_TYPE "weft-schedule"

using namespace mlir;
using namespace weft;

namespace {
/// A collective that stream 0 has not waited for.
struct Begun {
  plan::CommandOpInterface command;
  int64_t computed; // by stream 0 before it
};

/// Follows one program.
class Explainer {
public:
  void visit(plan::CommandOpInterface command);

private:
  void await(plan::WaitOp wait);

  int64_t computed = 0;
  llvm::DenseMap<int64_t, std::vector<Begun>> inFlight; // by stream
  /// The stream of an event, and how many of its collectives are done then.
  llvm::DenseMap<StringAttr, std::pair<int64_t, size_t>> records;
  llvm::DenseMap<int64_t, size_t> done; // collectives waited for, by stream
};
} // namespace

/// The command of stream 0 that a wait holds up, or null at the end.
static plan::CommandOpInterface findNext(plan::WaitOp wait) {
  for (Operation *op = wait->getNextNode(); op; op = op->getNextNode()) {
    auto command = dyn_cast<plan::CommandOpInterface>(op);
    if (command && command.getStreamNumber() == 0 &&
        !isa<plan::RecordOp, plan::WaitOp>(op) &&
        !command.getCommandScope().empty())
      return command;
  }
  return {};
}

void Explainer::await(plan::WaitOp wait) {
  auto record = records.find(wait.getEventAttr().getAttr());
  if (record == records.end())
    return;
  auto [stream, count] = record->second;
  for (size_t &next = done[stream]; next < count; ++next) {
    auto [command, before] = inFlight[stream][next];
    const char *verb =
        isa<plan::AllGatherOp>(*command) ? "gathered" : "reduced";
    std::string text = llvm::formatv("is {0} during {1}", verb,
                                     countText(computed - before, "command"));
    if (!command.getCommandScope().empty())
      text += (" for " + command.getCommandScope()).str();
    if (plan::CommandOpInterface next = findNext(wait))
      text +=
          (", until " + next.getCommandKind() + " of " + next.getCommandScope())
              .str();
    remark::analysis(command.getLoc(),
                     remark::RemarkOpts::name("overlap").category("schedule"))
        << text;
  }
}

void Explainer::visit(plan::CommandOpInterface command) {
  const int64_t stream = command.getStreamNumber();
  if (auto record = dyn_cast<plan::RecordOp>(*command))
    records[record.getEventAttr().getAttr()] = {stream,
                                                inFlight[stream].size()};
  else if (auto wait = dyn_cast<plan::WaitOp>(*command); wait && stream == 0)
    await(wait);
  else if (stream != 0 && plan::isCollective(command))
    inFlight[stream].push_back({command, computed});
  else if (stream == 0)
    ++computed;
}

/// A remark at each collective with a stream of its own: how many commands of
/// stream 0 run until it waits for the result.
static void explainSchedule(plan::ProgramOp program) {
  Explainer explainer;
  for (auto command :
       program.getBody().front().getOps<plan::CommandOpInterface>())
    explainer.visit(command);
}

namespace {
/// Walks a program in order and computes the new order of its commands.
class Scheduler {
public:
  /// `depths` is the prefetch depth of each unit. At most `maxGroups`
  /// groups of reductions are in flight.
  Scheduler(const AsyncProgram &program, const ScheduleUnits &units,
            ArrayRef<int64_t> depths, int64_t maxGroups)
      : program(program), units(units), depths(depths), maxGroups(maxGroups),
        isPut(program.getCommands().size()),
        isDone(program.getCommands().size()) {}

  SmallVector<AsyncStep> run();

private:
  /// Consecutive reductions of one block, whose sources are freed after
  /// them.
  struct ReductionGroup {
    std::string block;
    SmallVector<unsigned> collectives;
  };

  void put(unsigned command);
  void begin(unsigned gather);
  void await(unsigned collective);
  void beginUnits(size_t count);
  size_t countDue(size_t unit) const;
  void startReduction(unsigned collective);
  void endOldest();
  void putFollowers();
  bool isReady(unsigned follower) const;
  bool holdsMemory(unsigned collective) const;

  const AsyncProgram &program;
  const ScheduleUnits &units;
  const ArrayRef<int64_t> depths;
  const int64_t maxGroups;
  SmallVector<AsyncStep> steps;
  std::vector<bool> isPut, isDone; // by command; done: waited for
  size_t nextUnit = 0;
  std::deque<ReductionGroup> inFlight;
  std::deque<unsigned> followers; // not put yet
};
} // namespace

/// Puts a command after its dependences. A command of stream 0 first waits for
/// the collectives that it needs; collectives wait for each other in their
/// streams.
void Scheduler::put(unsigned command) {
  for (unsigned other : program.getDependences().before(command))
    if (!program.isAsync(command) && program.isAsync(other))
      await(other);
    else if (std::optional<unsigned> unit = units.findUnit(other))
      beginUnits(*unit + 1);
  LDBG() << "puts " << *program.getCommands()[command];
  steps.push_back({command});
  isPut[command] = true;
}

void Scheduler::begin(unsigned gather) {
  for (unsigned input : units.getPrefetched(gather))
    if (!isPut[input])
      put(input);
  put(gather);
}

/// Starts the first `count` units, unless they have started.
void Scheduler::beginUnits(size_t count) {
  for (; nextUnit < std::min(count, units.getGathers().size()); ++nextUnit)
    for (unsigned gather : units.getGathers()[nextUnit].gathers)
      begin(gather);
}

/// The number of units that must start before the wait for this unit. It
/// includes all units before one that is due.
size_t Scheduler::countDue(size_t unit) const {
  size_t count = unit + 1;
  for (size_t next = count; next < depths.size(); ++next)
    if (static_cast<int64_t>(next) - depths[next] <= static_cast<int64_t>(unit))
      count = next + 1;
  return count;
}

void Scheduler::await(unsigned collective) {
  if (isDone[collective])
    return;
  if (std::optional<unsigned> unit = units.findUnit(collective))
    beginUnits(countDue(*unit));
  steps.push_back({collective, /*isWait=*/true});
  isDone[collective] = true;
}

/// Whether the collective holds memory until it is done: its source is not a
/// state.
bool Scheduler::holdsMemory(unsigned collective) const {
  plan::CommandOpInterface command = program.getCommands()[collective];
  return !plan::getRoot(command->getOperand(0)).getDefiningOp<plan::UseOp>();
}

void Scheduler::startReduction(unsigned collective) {
  if (maxGroups == 0 || !holdsMemory(collective)) {
    put(collective);
    if (maxGroups == 0)
      await(collective);
    return;
  }
  std::string block = units.getBlockOf(collective);
  if (inFlight.empty() || block.empty() || inFlight.back().block != block) {
    while (static_cast<int64_t>(inFlight.size()) >= maxGroups)
      endOldest();
    inFlight.push_back({std::move(block), {}});
  }
  put(collective);
  inFlight.back().collectives.push_back(collective);
}

void Scheduler::endOldest() {
  for (unsigned collective : inFlight.front().collectives)
    await(collective);
  inFlight.pop_front();
  putFollowers();
}

/// Whether all dependences of the follower are put, and its collectives done.
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
    if (units.isPrefetched(i) || units.findUnit(i))
      continue;
    if (units.isFollower(i))
      followers.push_back(i);
    else if (units.isReduction(i))
      startReduction(i);
    else
      put(i);
  }
  beginUnits(units.getGathers().size());
  for (; !followers.empty(); followers.pop_front())
    put(followers.front());
  return std::move(steps);
}

//===----------------------------------------------------------------------===//
// Prefetch depth
//===----------------------------------------------------------------------===//

namespace {
/// The schedule of one program.
class ProgramSchedule {
public:
  ProgramSchedule(plan::ProgramOp op, int64_t forward, int64_t backward,
                  bool inTurn);

  void write() { write(depths); }
  /// Starts exposed gathers earlier, up to `most` units ahead, as long as the
  /// estimated time of the program gets shorter.
  LogicalResult lengthen(int64_t most);

private:
  void write(ArrayRef<int64_t> chosen);
  SmallVector<int64_t> raiseExposed(const Timeline &timeline,
                                    int64_t most) const;

  plan::ProgramOp op;
  llvm::DenseMap<Operation *, size_t> unitOf; // of a gather
  SmallVector<int64_t> depths;                // by unit
  int64_t maxGroups;
  const bool inTurn;
};
} // namespace

ProgramSchedule::ProgramSchedule(plan::ProgramOp op, int64_t forward,
                                 int64_t backward, bool inTurn)
    : op(op), maxGroups(backward), inTurn(inTurn) {
  const AsyncProgram program = AsyncProgram::read(op);
  const ScheduleUnits units(program);
  for (const auto &[number, unit] : llvm::enumerate(units.getGathers()))
    for (unsigned gather : unit.gathers)
      unitOf[program.getCommands()[gather]] = number;
  depths.assign(units.getBackward(), forward);
  depths.resize(units.getGathers().size(), backward);
}

void ProgramSchedule::write(ArrayRef<int64_t> chosen) {
  AsyncProgram program = AsyncProgram::read(op);
  const ScheduleUnits units(program);
  program.write(Scheduler(program, units, chosen, maxGroups).run(), inTurn);
}

/// The prefetch depths, increased by one for exposed gathers.
SmallVector<int64_t> ProgramSchedule::raiseExposed(const Timeline &timeline,
                                                   int64_t most) const {
  SmallVector<int64_t> raised = depths;
  for (const OverlapEntry &overlap : timeline.getOverlaps()) {
    auto unit = unitOf.find(timeline.getEntries()[overlap.begun].command);
    if (unit == unitOf.end() || timeline.getExposed(overlap) <= 0)
      continue;
    const int64_t longest = std::min(most, static_cast<int64_t>(unit->second));
    raised[unit->second] = std::max(
        depths[unit->second], std::min(depths[unit->second] + 1, longest));
  }
  return raised;
}

LogicalResult ProgramSchedule::lengthen(int64_t most) {
  FailureOr<Timeline> timeline = Timeline::get(op);
  if (failed(timeline))
    return failure();
  for (int64_t round = 0; round < most; ++round) {
    SmallVector<int64_t> raised = raiseExposed(*timeline, most);
    if (raised == depths)
      return success();
    write(raised);
    FailureOr<Timeline> next = Timeline::get(op);
    if (failed(next))
      return failure();
    if (next->getEnd() >= timeline->getEnd()) {
      write();
      return success();
    }
    depths = std::move(raised);
    timeline = std::move(next);
  }
  return success();
}

namespace {
struct SchedulePass : weft::impl::SchedulePassBase<SchedulePass> {
  using SchedulePassBase::SchedulePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkOptions()))
      return signalPassFailure();
    const int64_t backward = prefetchBackward < 0 ? prefetch : prefetchBackward;
    for (auto op : module.getOps<plan::ProgramOp>()) {
      ProgramSchedule schedule(op, prefetch, backward, inTurn);
      schedule.write();
      if (failed(schedule.lengthen(prefetchMax)))
        return signalPassFailure();
      if (getContext().getRemarkEngine())
        explainSchedule(op);
    }
    if (failed(declareEvents(module)))
      signalPassFailure();
  }

private:
  LogicalResult checkOptions() {
    for (auto [name, number] : {std::pair("prefetch", prefetch.getValue()),
                                {"prefetch-max", prefetchMax.getValue()}})
      if (number < 0)
        return getOperation().emitError("expects `")
               << name << "` of at least 0, but got " << number;
    return success();
  }
};
} // namespace
