//===- Trace.cpp - Chrome trace of the commands of a run ------------------===//

#include "weft/Runtime/Reports/Trace.h"

#include "weft/Formats/Digest.h"
#include "weft/Formats/Json.h"
#include "weft/Formats/OutputFile.h"

#include <cstdio>
#include <map>

using namespace weft;

Trace::Trace(WeftContext &context) : context(context) {
  context.traceHook = [this](const TraceEvent &event) {
    if (events.size() < maxEvents)
      events.push_back(event);
    else
      ++droppedEvents;
  };
}

Trace::~Trace() { context.traceHook = nullptr; }

/// Nanoseconds as microseconds with three decimals.
static std::string micros(int64_t ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%03d", (long long)(ns / 1000),
                int(ns % 1000));
  return text;
}

namespace {
/// What the metadata calls the commands of each program, in their order.
class CommandNames {
public:
  explicit CommandNames(const WeftExecutable &executable);

  /// The readable name, else that of the routine.
  const std::string &of(const WeftProgram &program, int64_t index);

private:
  std::map<std::string, std::vector<std::string>> programs;
};
} // namespace

CommandNames::CommandNames(const WeftExecutable &executable) {
  auto metadata = parseJson(
      {executable.metadata, static_cast<size_t>(executable.metadataBytes)},
      "<metadata>");
  const Json *schedule = metadata ? metadata->find("schedule") : nullptr;
  for (int32_t i = 0; i < executable.numPrograms; ++i) {
    const WeftProgram &program = executable.programs[i];
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
    }
  }
}

const std::string &CommandNames::of(const WeftProgram &program, int64_t index) {
  return programs[program.symbol][index];
}

static std::string eventText(const TraceEvent &event, int64_t origin,
                             CommandNames &names) {
  const WeftCommand &command = *event.command;
  int64_t index = event.command - event.program->commands;
  std::string out = ",\n{\"ph\": \"X\", \"pid\": 0, \"tid\": 0, \"name\": ";
  appendJsonString(out, names.of(*event.program, index));
  out += ", \"cat\": ";
  appendJsonString(out, event.program->symbol);
  out += ", \"ts\": " + micros(event.startNs - origin);
  out += ", \"dur\": " + micros(event.durationNs);
  out += ", \"args\": {\"scope\": ";
  appendJsonString(out, command.scope ? command.scope : "");
  out += ", \"routine\": ";
  appendJsonString(out, command.name);
  out += ", \"command\": " + std::to_string(index);
  return out + "}}";
}

/// What tells a trace from that of another program.
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
  if (Status s = file->write(head + "}}"); !s)
    return s;
  CommandNames names(executable);
  int64_t origin = events.empty() ? 0 : events.front().startNs;
  for (const TraceEvent &event : events)
    if (Status s = file->write(eventText(event, origin, names)); !s)
      return s;
  if (Status s = file->write("\n]}\n"); !s)
    return s;
  return file->commit();
}
