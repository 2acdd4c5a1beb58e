//===- Trace.cpp - Chrome trace of the commands of a run ------------------===//

#include "weft/Runtime/Trace.h"

#include "weft/Formats/Json.h"
#include "weft/Formats/OutputFile.h"

#include <cstdio>

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

static std::string eventText(const TraceEvent &event, int64_t origin) {
  std::string out = ",\n{\"ph\": \"X\", \"pid\": 0, \"tid\": 0, \"name\": ";
  appendJsonString(out, event.command->name);
  out += ", \"cat\": ";
  appendJsonString(out, event.program->name);
  out += ", \"ts\": " + micros(event.startNs - origin);
  out += ", \"dur\": " + micros(event.durationNs);
  out += ", \"args\": {\"scope\": ";
  appendJsonString(out, event.command->scope ? event.command->scope : "");
  return out + "}}";
}

Status Trace::write(const std::string &path,
                    const std::string &processName) const {
  auto file = OutputFile::create(path);
  if (!file)
    return file.takeError();
  std::string head = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"
                     "{\"ph\": \"M\", \"pid\": 0, \"name\": \"process_name\", "
                     "\"args\": {\"name\": ";
  appendJsonString(head, processName);
  if (Status s = file->write(head + "}}"); !s)
    return s;
  int64_t origin = events.empty() ? 0 : events.front().startNs;
  for (const TraceEvent &event : events)
    if (Status s = file->write(eventText(event, origin)); !s)
      return s;
  if (Status s = file->write("\n]}\n"); !s)
    return s;
  return file->commit();
}
