//===- Trace.h - Chrome trace of the commands of a run ----------*- C++ -*-===//
//
// Collects one event per command while a run lasts and writes the JSON that
// chrome://tracing, Perfetto and weft inspect --profile read. Times are
// microseconds from the start.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_REPORTS_TRACE_H
#define WEFT_RUNTIME_REPORTS_TRACE_H

#include "weft/Base/Error.h"
#include "weft/Runtime/Execute/Context.h"

#include <map>
#include <string>
#include <vector>

namespace weft {

class Trace {
public:
  /// Events beyond this many are dropped; write() says how many.
  static constexpr size_t maxEvents = 1000000;

  /// Collects the events of `context` until it is destroyed.
  explicit Trace(WeftContext &context);
  ~Trace();
  Trace(const Trace &) = delete;
  Trace &operator=(const Trace &) = delete;

  /// Writes the file whole; `processName` labels the timeline.
  Status write(const std::string &path, const std::string &processName) const;
  size_t dropped() const { return droppedEvents; }

private:
  WeftContext &context;
  std::vector<TraceEvent> events;
  std::map<int64_t, int64_t> ends; // of the last command, by stream
  size_t droppedEvents = 0;
};

} // namespace weft

#endif // WEFT_RUNTIME_REPORTS_TRACE_H
