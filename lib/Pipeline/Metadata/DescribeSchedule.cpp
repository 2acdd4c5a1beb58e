//===- DescribeSchedule.cpp - When commands run, in the metadata ----------===//

#include "weft/Pipeline/Metadata/DescribeSchedule.h"

#include "weft/Analysis/CommandNames.h"
#include "weft/Analysis/Cost.h"
#include "weft/Analysis/Liveness.h"
#include "weft/Analysis/PlanQueries.h"
#include "weft/Analysis/Timeline.h"
#include "weft/Formats/TraceTime.h"
#include "weft/Plan/PlanCollectives.h"
#include "weft/Plan/Transfers.h"
#include "weft/Support/ModulePath.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <utility>

using namespace mlir;
using namespace weft;

/// Microseconds with three decimals. Estimates are not more precise.
static Json micros(double us) { return Json(std::round(us * 1e3) / 1e3); }

/// Bytes of the arena in use while each command runs: states, staging buffers
/// of transfers, and live buffers.
static SmallVector<int64_t> getBytesInUse(plan::ProgramOp program) {
  auto module = program->getParentOfType<ModuleOp>();
  int64_t always = 0;
  for (StringRef name : {StringRef(plan::PlanDialect::kPersistentBytesAttr),
                         StringRef(plan::kStagingBytesAttr)})
    if (auto bytes = module->getAttrOfType<IntegerAttr>(name))
      always += bytes.getInt();
  SmallVector<int64_t> inUse =
      computeLiveness(program, getBufferAlignment(module).value_or(1))
          .liveBytes;
  for (int64_t &bytes : inUse)
    bytes += always;
  return inUse;
}

/// Commands of every program as [command or kernel, scope, estimated time,
/// generated, name, floating-point operations, bytes read and written, stream,
/// planned begin, planned time, bytes of the arena in use, kinds in a cost
/// table].
static Json describeCommand(const TimelineEntry &entry, int64_t bytesInUse,
                            CommandNames &names, CostKinds &kinds) {
  plan::CommandOpInterface command = entry.command;
  Json row = Json::array();
  row.push(command.getCommandName().str());
  row.push(command.getCommandScope().str());
  FloatAttr estimate = command.getEstUsAttr();
  row.push(estimate ? Json(estimate.getValueAsDouble()) : Json());
  row.push(isa<plan::LaunchOp>(*command));
  row.push(names.getName(command));
  row.push(getFlops(command));
  row.push(getTrafficBytes(command));
  row.push(command.getStreamNumber());
  // Round both ends, so that adjacent commands stay adjacent in a trace.
  const int64_t begin = traceNanos(entry.begin), end = traceNanos(entry.end);
  row.push(static_cast<double>(begin) / 1e3);
  row.push(static_cast<double>(end - begin) / 1e3);
  row.push(bytesInUse);
  Json list = Json::array();
  for (StringRef kind : kinds.getKinds(command))
    list.push(kind.str());
  row.push(std::move(list));
  return row;
}

FailureOr<Json> weft::describeSchedule(ModuleOp module) {
  CommandNames names(module);
  CostKinds kinds(module);
  Json programs = Json::object();
  for (auto program : module.getOps<plan::ProgramOp>()) {
    Json commands = Json::array();
    const FailureOr<Timeline> timeline = Timeline::get(program);
    if (failed(timeline))
      return failure();
    for (auto [entry, bytes] :
         llvm::zip_equal(timeline->getEntries(), getBytesInUse(program)))
      commands.push(describeCommand(entry, bytes, names, kinds));
    programs.set(program.getSymName().str(), std::move(commands));
  }
  return programs;
}

//===----------------------------------------------------------------------===//
// Overlap
//===----------------------------------------------------------------------===//

namespace {
/// The computation between the start of a collective and its wait.
struct Cover {
  llvm::SetVector<StringRef> blocks;
  double time = 0;
};
} // namespace

static bool computes(plan::CommandOpInterface command) {
  return command.getStreamNumber() == plan::kComputeStream &&
         !plan::isTransfer(command);
}

static Cover findCover(ArrayRef<TimelineEntry> entries, OverlapEntry overlap) {
  Cover cover;
  for (size_t i = overlap.begun; i < overlap.awaited && i < entries.size();
       ++i) {
    plan::CommandOpInterface command = entries[i].command;
    if (!computes(command))
      continue;
    cover.time += entries[i].getTime();
    StringRef scope = command.getCommandScope();
    if (!scope.empty())
      cover.blocks.insert(getUnit(scope));
  }
  return cover;
}

/// The reason why stream 0 waits for a collective, or why it need not wait.
static std::string findReason(ArrayRef<TimelineEntry> entries,
                              OverlapEntry overlap, const Cover &cover,
                              double exposed) {
  if (exposed == 0)
    return "done before it is needed";
  auto isBehind = [&](size_t from, size_t to) {
    return llvm::any_of(entries.slice(from, to - from),
                        [](auto &entry) { return computes(entry.command); });
  };
  if (!isBehind(0, overlap.begun) && cover.time == 0)
    return "no computation before it";
  if (!isBehind(overlap.awaited, entries.size()) && cover.time == 0)
    return "no computation after it";
  if (cover.time == 0)
    return "needed at once";
  return "takes longer than the computation meanwhile";
}

/// One collective of another stream.
static Json describeCollective(const Timeline &timeline, OverlapEntry overlap,
                               CommandNames &names) {
  ArrayRef<TimelineEntry> entries = timeline.getEntries();
  const TimelineEntry &begun = entries[overlap.begun];
  plan::CommandOpInterface command = begun.command;
  const Cover cover = findCover(entries, overlap);
  const bool isAwaited = overlap.awaited < entries.size();
  const double exposed = timeline.getExposed(overlap);
  Json json = Json::object();
  json.set("command", int64_t(overlap.begun));
  json.set("name", names.getName(command));
  json.set("scope", command.getCommandScope().str());
  json.set("sent_bytes", getSentBytes(command));
  json.set("begin_us", micros(begun.begin));
  json.set("time_us", micros(begun.getTime()));
  json.set("wait", isAwaited ? Json(int64_t(overlap.awaited)) : Json());
  json.set("exposed_us", micros(exposed));
  json.set("hidden_by", llvm::join(cover.blocks, " "));
  json.set("reason", findReason(entries, overlap, cover, exposed));
  return json;
}

static double sumCollectives(ArrayRef<TimelineEntry> entries) {
  double sum = 0;
  for (const TimelineEntry &entry : entries)
    if (getSentBytes(entry.command) > 0)
      sum += entry.getTime();
  return sum;
}

FailureOr<Json> weft::describeOverlap(ModuleOp module) {
  CommandNames names(module);
  Json programs = Json::object();
  for (auto program : module.getOps<plan::ProgramOp>()) {
    const FailureOr<Timeline> timeline = Timeline::get(program);
    if (failed(timeline))
      return failure();
    const double sent = sumCollectives(timeline->getEntries());
    if (sent == 0)
      continue;
    Json collectives = Json::array();
    for (const OverlapEntry &overlap : timeline->getOverlaps())
      collectives.push(describeCollective(*timeline, overlap, names));
    Json json = Json::object();
    json.set("time_us", micros(timeline->getEnd()));
    json.set("collectives_us", micros(sent));
    json.set("exposed_us", micros(timeline->getExposed()));
    json.set("collectives", std::move(collectives));
    programs.set(program.getSymName().str(), std::move(json));
  }
  return programs.asObject().empty() ? Json() : programs;
}

//===----------------------------------------------------------------------===//
// Timeline
//===----------------------------------------------------------------------===//

static std::string getStreamName(int64_t stream) {
  switch (stream) {
  case plan::kComputeStream:
    return "compute";
  case plan::kUploadStream:
    return "upload";
  case plan::kReadbackStream:
    return "readback";
  case plan::kGatherStream:
    return "gathers";
  case plan::kReduceStream:
    return "reductions";
  default:
    return "stream " + std::to_string(stream);
  }
}

static Json describeThread(int64_t stream) {
  Json name = Json::object();
  name.set("name", getStreamName(stream));
  Json json = Json::object();
  json.set("ph", "M");
  json.set("pid", 0);
  json.set("tid", stream);
  json.set("name", "thread_name");
  json.set("args", std::move(name));
  return json;
}

static Json describeSlice(const TimelineEntry &entry, double origin,
                          StringRef program, CommandNames &names) {
  plan::CommandOpInterface command = entry.command;
  Json arguments = Json::object();
  arguments.set("scope", command.getCommandScope().str());
  Json json = Json::object();
  json.set("ph", "X");
  json.set("pid", 0);
  json.set("tid", command.getStreamNumber());
  json.set("name", names.getName(command));
  json.set("cat", program.str());
  const int64_t begin = traceNanos(origin + entry.begin);
  const int64_t end = traceNanos(origin + entry.end);
  json.set("ts", traceMicros(begin));
  json.set("dur", traceMicros(end - begin));
  json.set("args", std::move(arguments));
  return json;
}

/// A counter event for the bytes of the arena in use from `us` on.
static Json describeBytesInUse(double us, int64_t bytes) {
  Json arguments = Json::object();
  arguments.set("bytes", bytes);
  Json json = Json::object();
  json.set("ph", "C");
  json.set("pid", 0);
  json.set("name", "arena in use");
  json.set("ts", traceMicros(traceNanos(us)));
  json.set("args", std::move(arguments));
  return json;
}

FailureOr<std::string> weft::describeTimeline(ModuleOp module) {
  CommandNames names(module);
  Json events = Json::array();
  llvm::SmallSetVector<int64_t, 4> streams;
  double origin = 0;
  int64_t lastBytes = -1;
  for (auto program : module.getOps<plan::ProgramOp>()) {
    const FailureOr<Timeline> timeline = Timeline::get(program);
    if (failed(timeline))
      return failure();
    for (auto [entry, bytes] :
         llvm::zip_equal(timeline->getEntries(), getBytesInUse(program))) {
      plan::CommandOpInterface command = entry.command;
      if (streams.insert(command.getStreamNumber()))
        events.push(describeThread(command.getStreamNumber()));
      if (entry.getTime() == 0)
        continue;
      events.push(describeSlice(entry, origin, program.getSymName(), names));
      // Live ranges follow the order of the program, the order of stream 0.
      if (command.getStreamNumber() == plan::kComputeStream &&
          std::exchange(lastBytes, bytes) != bytes)
        events.push(describeBytesInUse(origin + entry.begin, bytes));
    }
    origin += timeline->getEnd();
  }
  Json json = Json::object();
  json.set("displayTimeUnit", "ms");
  json.set("otherData", Json::object()).set("weft", "timeline");
  json.set("traceEvents", std::move(events));
  return json.pretty();
}
