//===- Trace.cpp - Chrome trace of the commands of a run ------------------===//

#include "weft/Runtime/Reports/Progress.h"

#include "weft/Base/OutputFile.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/Json.h"
#include "weft/Formats/TraceTime.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

using namespace weft;

Trace::Trace(WeftContext &context) : context(context) {
  context.traceHook = [this](const TraceEvent &event) {
    if (events.size() == maxEvents) {
      ++droppedEvents;
      return;
    }
    events.push_back(event);
    // Device times add up to slightly more than the host's clock. A stream runs
    // its commands in sequence, so its events must not overlap.
    int64_t &end = ends[event.stream];
    TraceEvent &kept = events.back();
    kept.startNs = std::max(kept.startNs, end);
    end = kept.startNs + kept.durationNs;
  };
}

Trace::~Trace() { context.traceHook = nullptr; }

/// Microseconds with as many decimals as needed.
static std::string micros(int64_t ns) {
  char text[64];
  char *end = std::to_chars(text, text + sizeof text, traceMicros(ns),
                            std::chars_format::fixed)
                  .ptr;
  return std::string(text, end);
}

namespace {
/// The metadata of the commands of each program, in their order.
class CommandTable {
public:
  explicit CommandTable(const WeftExecutable &executable);

  /// The readable name of a command, else the name of its routine.
  const std::string &of(const WeftProgram &program, int64_t index);
  /// A counter event for the arena bytes in use, if a measured command changes
  /// them; else "".
  std::string bytesInUse(const TraceEvent &event, int64_t origin);
  /// The planned slices of a run of the program. They begin at `startNs`, or at
  /// the end of earlier planned slices if that is later.
  std::string planOf(const WeftProgram &program, int64_t startNs);
  /// Whether the metadata has planned times.
  bool hasPlan() const { return isPlanned; }

private:
  struct Planned {
    int64_t stream = 0;
    double beginUs = 0, us = 0;
    int64_t bytesInUse = -1; // of the arena; -1 if the metadata does not say
  };
  static Planned plannedIn(const Json::Array &row);
  std::map<std::string, std::vector<std::string>> programs;
  std::string counterText(int process, const Planned &planned, int64_t atNs);

  std::map<std::string, std::vector<Planned>> plans;
  /// The last values of the counter, by process.
  int64_t lastBytes[2] = {-1, -1};
  int64_t plannedEndNs = 0;
  bool isPlanned = false;
};
} // namespace

CommandTable::Planned CommandTable::plannedIn(const Json::Array &row) {
  if (row.size() < 10 || !row[7].isInt() || !row[8].isNumber() ||
      !row[9].isNumber())
    return {};
  return {row[7].asInt(), row[8].asDouble(), row[9].asDouble(),
          row.size() > 10 && row[10].isInt() ? row[10].asInt() : -1};
}

CommandTable::CommandTable(const WeftExecutable &executable) {
  auto metadata = parseJson(
      {executable.metadata, static_cast<size_t>(executable.metadataBytes)},
      "<metadata>");
  const Json *schedule = metadata ? metadata->find("schedule") : nullptr;
  for (const WeftProgram &program : programsOf(executable)) {
    const Json *rows = schedule ? schedule->find(program.symbol) : nullptr;
    for (int32_t k = 0; k < program.numCommands; ++k) {
      const Json *row =
          rows && rows->isArray() && k < int64_t(rows->asArray().size())
              ? &rows->asArray()[k]
              : nullptr;
      bool isNamed = row && row->isArray() && row->asArray().size() > 4 &&
                     row->asArray()[4].isString();
      programs[program.symbol].push_back(isNamed ? row->asArray()[4].asString()
                                                 : program.commands[k].name);
      plans[program.symbol].push_back(isNamed ? plannedIn(row->asArray())
                                              : Planned());
      isPlanned = isPlanned || plans[program.symbol].back().us > 0;
    }
  }
}

const std::string &CommandTable::of(const WeftProgram &program, int64_t index) {
  return programs[program.symbol][index];
}

/// Process 0 has the measured events, process 1 the planned ones.
static std::string sliceText(int process, int64_t stream,
                             const std::string &name, const char *program,
                             int64_t startNs, int64_t ns) {
  std::string out = ",\n{\"ph\": \"X\", \"pid\": " + std::to_string(process) +
                    ", \"tid\": " + std::to_string(stream) + ", \"name\": ";
  appendJsonString(out, name);
  out += ", \"cat\": ";
  appendJsonString(out, program);
  return out + ", \"ts\": " + micros(startNs) + ", \"dur\": " + micros(ns);
}

/// Live ranges follow the order of the program, the order of stream 0.
std::string CommandTable::counterText(int process, const Planned &planned,
                                      int64_t atNs) {
  if (planned.stream != 0 || planned.bytesInUse < 0 ||
      std::exchange(lastBytes[process], planned.bytesInUse) ==
          planned.bytesInUse)
    return "";
  return ",\n{\"ph\": \"C\", \"pid\": " + std::to_string(process) +
         ", \"name\": \"arena in use\", \"ts\": " + micros(atNs) +
         ", \"args\": {\"bytes\": " + std::to_string(planned.bytesInUse) + "}}";
}

std::string CommandTable::bytesInUse(const TraceEvent &event, int64_t origin) {
  const int64_t index = event.command - event.program->commands;
  return counterText(0, plans[event.program->symbol][index],
                     event.startNs - origin);
}

std::string CommandTable::planOf(const WeftProgram &program, int64_t startNs) {
  std::string out;
  const std::vector<Planned> &plan = plans[program.symbol];
  const int64_t begin = std::max(startNs, plannedEndNs);
  for (size_t i = 0; i < plan.size(); ++i) {
    const int64_t at = begin + traceNanos(plan[i].beginUs);
    const int64_t time = traceNanos(plan[i].us);
    if (time > 0)
      out += sliceText(1, plan[i].stream, programs[program.symbol][i],
                       program.symbol, at, time) +
             ", \"args\": {\"planned\": true}}" + counterText(1, plan[i], at);
    plannedEndNs = std::max(plannedEndNs, at + time);
  }
  return out;
}

static std::string eventText(const TraceEvent &event, int64_t origin,
                             CommandTable &table) {
  const WeftCommand &command = *event.command;
  int64_t index = event.command - event.program->commands;
  std::string out = sliceText(0, event.stream, table.of(*event.program, index),
                              event.program->symbol, event.startNs - origin,
                              event.durationNs);
  if (event.threadNs >= 0)
    out += ", \"tdur\": " + micros(event.threadNs);
  out += ", \"args\": {\"scope\": ";
  appendJsonString(out, command.scope ? command.scope : "");
  out += ", \"routine\": ";
  appendJsonString(out, command.name);
  out += ", \"command\": " + std::to_string(index);
  return out + "}}";
}

static const std::pair<int, const char *> kStreamNames[] = {{0, "compute"},
                                                            {1, "upload"},
                                                            {2, "readback"},
                                                            {3, "gathers"},
                                                            {4, "reductions"}};

/// The displayed name of a process or of one of its threads.
static std::string metadataText(int process, const char *kind, const char *name,
                                int thread = 0) {
  return ",\n{\"ph\": \"M\", \"pid\": " + std::to_string(process) +
         ", \"tid\": " + std::to_string(thread) + ", \"name\": \"" + kind +
         "\", \"args\": {\"name\": \"" + name + "\"}}";
}

/// Metadata that distinguishes traces of different programs.
static std::string identityText(const WeftExecutable &executable,
                                const std::string &model, size_t dropped) {
  std::string out = "\"otherData\": {\"model\": ";
  appendJsonString(out, model);
  out += ", \"program\": \"" +
         digest128(executable.metadata,
                   static_cast<size_t>(executable.metadataBytes));
  return out + "\", \"dropped\": " + std::to_string(dropped) + "}";
}

Status Trace::write(const std::string &path,
                    const std::string &processName) const {
  auto file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  const WeftExecutable &executable = *context.executable();
  std::string head = "{\"displayTimeUnit\": \"ms\", " +
                     identityText(executable, processName, droppedEvents) +
                     ", \"traceEvents\": [\n"
                     "{\"ph\": \"M\", \"pid\": 0, \"name\": \"process_name\", "
                     "\"args\": {\"name\": ";
  appendJsonString(head, processName);
  head += "}}";
  CommandTable table(executable);
  if (table.hasPlan()) {
    head += metadataText(1, "process_name", "planned");
    for (int process : {0, 1})
      for (const auto &[stream, name] : kStreamNames)
        head += metadataText(process, "thread_name", name, stream);
  }
  if (Status s = file->write(head); !s)
    return s;
  int64_t origin = events.empty() ? 0 : events.front().startNs;
  std::set<const WeftProgram *> seen;
  for (const TraceEvent &event : events) {
    std::string text = eventText(event, origin, table);
    text += table.bytesInUse(event, origin);
    // The plan is shown next to the first run of each program.
    if (seen.insert(event.program).second)
      text += table.planOf(*event.program, event.startNs - origin);
    if (Status s = file->write(text); !s)
      return s;
  }
  if (Status s = file->write("\n]}\n"); !s)
    return s;
  return file->commit();
}
