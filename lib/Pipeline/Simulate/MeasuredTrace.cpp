//===- MeasuredTrace.cpp - Command times from the trace of a run ----------===//

#include "weft/Pipeline/Simulate/MeasuredTrace.h"

#include "weft/Formats/Json.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <tuple>

using namespace weft;

using Costs = std::map<std::string, std::vector<CostSample>>;

/// The mean, not the median: a step is the sum of its commands, and outliers
/// count because ranks wait for the slowest.
static double meanOf(llvm::ArrayRef<double> values) {
  double sum = 0;
  for (double value : values)
    sum += value;
  return sum / static_cast<double>(values.size());
}

namespace {
/// A command that ran.
struct Event {
  std::string program;
  size_t command;
  double begin, us;
  double threadUs; // processor time; us if the clock is not needed
};

class Trace {
public:
  Trace(const Costs &costs, MeasuredClock clock) : costs(costs), clock(clock) {}

  Status read(const std::string &path);
  std::vector<CostSample> getSamples() const;
  double getHandOverUs() const;
  double getExposedUs() const;

private:
  Status addEvent(const JsonCursor &event);
  const CostSample &costOf(const Event &event) const {
    return costs.at(event.program)[event.command];
  }

  const Costs &costs;
  MeasuredClock clock;
  std::vector<Event> events;
};
} // namespace

/// Adds a measured command. Planned commands and other events are ignored.
Status Trace::addEvent(const JsonCursor &event) {
  auto kind = event.getString("ph");
  auto process = event.getInt("pid");
  if (!kind || !process || *kind != "X" || *process != 0)
    return Status::success();
  auto program = event.getString("cat");
  if (!program)
    return program.takeError();
  auto begin = event.getDouble("ts");
  if (!begin)
    return begin.takeError();
  auto duration = event.getDouble("dur");
  if (!duration)
    return duration.takeError();
  auto found = costs.find(*program);
  if (found == costs.end())
    return event.error("expects a program of the plan, but got '" + *program +
                       "'");
  auto args = event.get("args");
  if (!args)
    return args.takeError();
  const auto size = static_cast<int64_t>(found->second.size());
  auto index = args->getInt("command", 0, size - 1);
  if (!index)
    return index.takeError();
  double threadUs = *duration;
  if (clock == MeasuredClock::LeastOfThread) {
    auto used = event.getDouble("tdur");
    if (!used)
      return used.takeError();
    threadUs = *used;
  }
  events.push_back(
      {*program, static_cast<size_t>(*index), *begin, *duration, threadUs});
  return Status::success();
}

Status Trace::read(const std::string &path) {
  auto document = readJsonFile(path);
  if (!document)
    return document.takeError();
  const JsonCursor trace(*document, path);
  if (auto other = trace.get("otherData"))
    if (auto dropped = other->getInt("dropped"); dropped && *dropped > 0)
      return trace.error(
          "expects a complete trace, but it was full: use fewer --steps");
  auto list = trace.get("traceEvents");
  if (!list)
    return list.takeError();
  auto size = list->arraySize();
  if (!size)
    return size.takeError();
  for (size_t i = 0; i < *size; ++i)
    if (Status status = addEvent(list->element(i)); !status)
      return status;
  llvm::sort(events, [](const Event &a, const Event &b) {
    return std::tie(a.begin, a.program, a.command) <
           std::tie(b.begin, b.program, b.command);
  });
  return Status::success();
}

/// Runs of a command that are left out, as the first runs initialize caches.
static constexpr size_t kFirstSteps = 2;

std::vector<CostSample> Trace::getSamples() const {
  std::map<std::pair<std::string, size_t>, std::vector<double>> times;
  for (const Event &event : events)
    times[{event.program, event.command}].push_back(event.threadUs);
  std::vector<CostSample> samples;
  for (const auto &[command, all] : times) {
    samples.push_back(costs.at(command.first)[command.second]);
    const size_t left = std::min(kFirstSteps, all.size() - 1);
    const auto counted = llvm::ArrayRef(all).drop_front(left);
    samples.back().us = clock == MeasuredClock::Mean
                            ? meanOf(counted)
                            : *llvm::min_element(counted);
  }
  return samples;
}

double Trace::getHandOverUs() const {
  const Event *last = nullptr;
  double between = 0, records = 0;
  for (const Event &event : events) {
    if (costOf(event).stream != 0)
      continue;
    if (last && last->program == event.program && last->command < event.command)
      between += event.begin - last->begin - last->us;
    records += costOf(event).kind == "record";
    last = &event;
  }
  return records > 0 ? std::max(0.0, between / records) : 0;
}

/// The same sum as Timeline::getExposed. A trace shows the time of a record
/// between commands, so records count with handOverUs. Steps have one
/// micro-step here, so each command runs once per step.
double Trace::getExposedUs() const {
  const double handOverUs = getHandOverUs();
  double us = 0;
  for (const CostSample &sample : getSamples())
    if (sample.stream == 0) {
      if (sample.isCollective || sample.kind == "wait")
        us += sample.us;
      else if (sample.kind == "record")
        us += handOverUs;
    }
  return us;
}

Expected<MeasuredTimes> weft::readMeasuredTrace(const std::string &path,
                                                const Costs &costs,
                                                MeasuredClock clock) {
  Trace trace(costs, clock);
  if (Status status = trace.read(path); !status)
    return status.takeError();
  return MeasuredTimes{trace.getSamples(), trace.getHandOverUs(),
                       trace.getExposedUs()};
}
