//===- Timeline.cpp - When the commands of a plan run ---------------------===//

#include "weft/Analysis/Timeline.h"

#include "weft/Analysis/Cost.h"
#include "weft/Analysis/PlanQueries.h"
#include "weft/Plan/PlanCollectives.h"
#include "weft/Plan/Transfers.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <cassert>
#include <deque>
#include <limits>
#include <map>

using namespace mlir;
using namespace weft;

namespace {
/// Remaining work of a command, in microseconds at full speed.
struct Work {
  double alone = 0; // shares nothing: arithmetic, latency
  double link = 0;  // then sends, with others of its group
  StringRef group;
  bool isAcross = false; // sends across nodes

  bool isDone() const { return alone <= 0 && link <= 0; }
  bool isSending() const { return alone <= 0 && link > 0; }
};

class Simulation {
public:
  explicit Simulation(std::vector<TimelineEntry> &entries);
  LogicalResult findRecords();
  void run();

private:
  struct Queue {
    std::deque<size_t> left; // entries
    bool hasBegun = false;
    Work work; // of the first
  };

  Work getWork(size_t entry) const;
  bool begin(Queue &queue);
  bool beginAll();
  double getSpeed(int64_t stream, const Queue &queue) const;
  void advance();

  std::vector<TimelineEntry> &entries;
  std::map<int64_t, Queue> queues;
  DenseMap<size_t, size_t> recordOf; // of a wait
  std::vector<bool> isOver;
  double now = 0;
  Overlap overlap;
};
} // namespace

static double getNumber(FloatAttr attribute) {
  return attribute ? attribute.getValueAsDouble() : 0;
}

Simulation::Simulation(std::vector<TimelineEntry> &entries)
    : entries(entries), isOver(entries.size()) {
  for (size_t i = 0; i < entries.size(); ++i)
    queues[entries[i].command.getStreamNumber()].left.push_back(i);
  if (!entries.empty())
    overlap = getOverlap(entries.front().command->getParentOfType<ModuleOp>());
}

/// Each wait is for the last record above it. A wait whose record is below it
/// is for the previous run, which is over.
LogicalResult Simulation::findRecords() {
  DenseSet<StringAttr> events;
  for (const TimelineEntry &entry : entries)
    if (auto record = dyn_cast<plan::RecordOp>(*entry.command))
      events.insert(record.getEventAttr().getAttr());
  DenseMap<StringAttr, size_t> recorded;
  for (size_t i = 0; i < entries.size(); ++i) {
    plan::CommandOpInterface command = entries[i].command;
    if (auto record = dyn_cast<plan::RecordOp>(*command))
      recorded[record.getEventAttr().getAttr()] = i;
    auto wait = dyn_cast<plan::WaitOp>(*command);
    if (!wait)
      continue;
    StringAttr event = wait.getEventAttr().getAttr();
    if (!events.contains(event))
      return wait.emitOpError("expects a record of ")
             << wait.getEventAttr() << " in its program, but got none";
    if (auto found = recorded.find(event); found != recorded.end())
      recordOf[i] = found->second;
  }
  return success();
}

Work Simulation::getWork(size_t entry) const {
  plan::CommandOpInterface command = entries[entry].command;
  const bool computes = command.getStreamNumber() == plan::kComputeStream;
  if (isa<plan::RecordOp>(*command) && computes)
    return {overlap.beginUs, 0, {}};
  if (plan::isTransfer(command))
    return {};
  const double all = getNumber(command.getEstUsAttr());
  Work work;
  work.link = getNumber(command->getAttrOfType<FloatAttr>(plan::kLinkUsAttr));
  work.alone = all - work.link;
  if (plan::isAsync(command))
    work.alone += overlap.besideUs;
  for (StringRef name : {StringRef("group"), StringRef(plan::kLinkAttr)})
    if (auto group = command->getAttrOfType<StringAttr>(name))
      work.group = group;
  auto link = command->getAttrOfType<StringAttr>(plan::kLinkAttr);
  work.isAcross = link && link.getValue() == kNetworkLink;
  return work;
}

/// Whether the first command of a queue runs, or has just been passed.
bool Simulation::begin(Queue &queue) {
  const size_t next = queue.left.front();
  if (!queue.hasBegun) {
    queue.hasBegun = true;
    queue.work = getWork(next);
    entries[next].begin = now;
  }
  auto record = recordOf.find(next);
  if (!queue.work.isDone() ||
      (record != recordOf.end() && !isOver[record->second]))
    return false;
  entries[next].end = now;
  isOver[next] = true;
  queue.left.pop_front();
  queue.hasBegun = false;
  return true;
}

/// Passes all that is done now; whether anything is left.
bool Simulation::beginAll() {
  for (bool isProgress = true; isProgress;) {
    isProgress = false;
    for (auto &[stream, queue] : queues)
      while (!queue.left.empty() && begin(queue))
        isProgress = true;
  }
  return llvm::any_of(queues,
                      [](auto &each) { return !each.second.left.empty(); });
}

/// Where collectives inside a node and across nodes send at once, computation
/// loses the larger part.
double Simulation::getSpeed(int64_t stream, const Queue &queue) const {
  int64_t onLink = 0;
  double slowdown = 0;
  for (const auto &[number, other] : queues)
    if (other.hasBegun && other.work.isSending()) {
      slowdown = std::max(slowdown, overlap.getSlowdown(other.work.isAcross));
      onLink += other.work.group == queue.work.group;
    }
  if (queue.work.isSending())
    return 1.0 / static_cast<double>(onLink);
  return stream == plan::kComputeStream ? 1 - slowdown : 1;
}

/// To the moment at which the next part of a command is done.
void Simulation::advance() {
  double step = std::numeric_limits<double>::infinity();
  std::map<int64_t, double> speeds;
  for (auto &[stream, queue] : queues) {
    if (!queue.hasBegun || queue.work.isDone())
      continue;
    speeds[stream] = getSpeed(stream, queue);
    const Work &work = queue.work;
    step = std::min(step, (work.isSending() ? work.link : work.alone) /
                              speeds[stream]);
  }
  // Records stand above their waits: the first command that is left can run.
  assert(!speeds.empty() && "streams wait for each other");
  now += step;
  for (auto [stream, speed] : speeds) {
    Work &work = queues[stream].work;
    double &part = work.isSending() ? work.link : work.alone;
    part -= step * speed;
    if (part < 1e-9)
      part = 0;
  }
}

void Simulation::run() {
  while (beginAll())
    advance();
}

FailureOr<Timeline> Timeline::get(plan::ProgramOp program) {
  Timeline timeline;
  for (auto command :
       program.getBody().front().getOps<plan::CommandOpInterface>())
    timeline.entries.push_back({command});
  Simulation simulation(timeline.entries);
  if (failed(simulation.findRecords()))
    return failure();
  simulation.run();
  return timeline;
}

double Timeline::getEnd() const {
  double end = 0;
  for (const TimelineEntry &entry : entries)
    end = std::max(end, entry.end);
  return end;
}

double Timeline::getExposed() const {
  double sum = 0;
  for (const TimelineEntry &entry : entries) {
    plan::CommandOpInterface command = entry.command;
    if (command.getStreamNumber() == plan::kComputeStream &&
        (plan::isTransfer(command) || getSentBytes(command) > 0))
      sum += entry.getTime();
  }
  return sum;
}

double Timeline::getExposed(const OverlapEntry &overlap) const {
  if (overlap.awaited >= entries.size())
    return 0;
  const TimelineEntry &begun = entries[overlap.begun];
  const TimelineEntry &wait = entries[overlap.awaited];
  return std::max(0.0, std::min(begun.end, wait.end) -
                           std::max(begun.begin, wait.begin));
}

std::vector<OverlapEntry> Timeline::getOverlaps() const {
  std::vector<OverlapEntry> found;
  std::map<int64_t, std::vector<size_t>> open; // in found, by stream
  DenseMap<StringAttr, std::vector<size_t>> covered;
  for (size_t i = 0; i < entries.size(); ++i) {
    plan::CommandOpInterface command = entries[i].command;
    if (plan::isAsync(command)) {
      open[command.getStreamNumber()].push_back(found.size());
      found.push_back({i, entries.size()});
    } else if (auto record = dyn_cast<plan::RecordOp>(*command)) {
      covered[record.getEventAttr().getAttr()] =
          open[command.getStreamNumber()];
    } else if (auto wait = dyn_cast<plan::WaitOp>(*command);
               wait && command.getStreamNumber() == plan::kComputeStream) {
      for (size_t each : covered[wait.getEventAttr().getAttr()])
        found[each].awaited = std::min(found[each].awaited, i);
    }
  }
  return found;
}

FailureOr<StepEstimate> weft::estimateStep(ModuleOp module) {
  StepEstimate step;
  // Further micro-steps of a step have programs of their own.
  for (ProgramKind kind :
       {ProgramKind::Denominators, ProgramKind::Micro, ProgramKind::Apply}) {
    plan::ProgramOp program = findProgram(module, kind);
    if (!program)
      continue;
    const FailureOr<Timeline> timeline = Timeline::get(program);
    if (failed(timeline))
      return failure();
    step.us += timeline->getEnd();
    step.exposedUs += timeline->getExposed();
    for (const TimelineEntry &entry : timeline->getEntries())
      if (const int64_t bytes = getSentBytes(entry.command)) {
        step.collectivesUs += entry.getTime();
        step.sentBytes += bytes;
      }
  }
  return step;
}
