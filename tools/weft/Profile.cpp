//===- Profile.cpp - Measured times against what was compiled -------------===//

#include "InspectViews.h"

#include "CommandCosts.h"
#include "ViewTable.h"

#include "weft/Abi/MicroSteps.h"
#include "weft/Abi/Names.h"
#include "weft/Base/Text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>
#include <vector>

using namespace weft;

namespace {

/// Calls of one kernel or in one scope, added up.
struct Sum {
  std::string name, routine;
  int64_t calls = 0;
  double microseconds = 0, flops = 0, bytes = 0;

  void add(const CommandCost &cost, double duration) {
    ++calls;
    microseconds += duration;
    flops += cost.flops;
    bytes += cost.bytes;
  }
  /// Operations or bytes a microsecond are 1e-3 of one a nanosecond.
  double perNanosecond(double amount) const {
    return microseconds > 0 ? amount / microseconds * 1e-3 : 0;
  }
  double gflops() const { return perNanosecond(flops); }
  double gigabytes() const { return perNanosecond(bytes); }
};

struct Peak {
  double gflops = 0, gigabytes = 0;
  std::string source;

  bool isGiven() const { return source == "cost table"; }
  double shareOf(const Sum &sum) const;
};

class Profiler {
public:
  explicit Profiler(const Json &meta) : meta(meta) {}

  Status readSchedule();
  Status readEvents(const JsonCursor &events);
  Json result() const;

private:
  Status addEvent(const JsonCursor &event);
  void addCommand(const CommandCost &cost, const std::string &program,
                  double duration);
  Peak findPeak() const;
  Json rows(const std::vector<Sum> &sums, const Peak &peak) const;

  const Json &meta;
  std::map<std::string, std::vector<CommandCost>> programs;
  /// By name and routine: a name does not tell all of a kernel.
  std::map<std::pair<std::string, std::string>, Sum> kernels;
  std::map<std::string, Sum> scopes;
  std::map<std::string, Sum> runs; // by program
  std::map<std::string, int64_t> starts;
  Sum total, events;
  double first = INFINITY, last = 0;
};

} // namespace

static double numberOf(const Json &json) {
  return json.isNumber() ? json.asDouble() : 0;
}

static std::string textOf(const Json &json) {
  return json.isString() ? json.asString() : "";
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Status Profiler::readSchedule() {
  auto costs = readCommandCosts(meta);
  if (!costs)
    return costs.takeError();
  programs = std::move(*costs);
  return Status::success();
}

/// 30 years: sums of many stay finite.
static constexpr double kMostMicroseconds = 1e15;

/// An event that is no command (the name of the process), or one that was only
/// planned, is passed over.
Status Profiler::addEvent(const JsonCursor &event) {
  auto kind = event.getString("ph");
  if (!kind)
    return kind.takeError();
  if (*kind != "X")
    return Status::success();
  if (const Json *process = event.value().find("pid");
      process && process->isInt() && process->asInt() != 0)
    return Status::success();
  auto program = event.getString("cat");
  if (!program)
    return program.takeError();
  auto start = event.getDouble("ts");
  if (!start)
    return start.takeError();
  auto duration = event.getDouble("dur");
  if (!duration)
    return duration.takeError();
  if (!(std::abs(*start) <= kMostMicroseconds) ||
      !(*duration >= 0 && *duration <= kMostMicroseconds))
    return event.error("expects `ts` and `dur` within 10^15 us, `dur` of at "
                       "least 0");
  auto args = event.get("args");
  if (!args)
    return args.takeError();
  auto costs = programs.find(*program);
  if (costs == programs.end())
    return event.error("expects a program of the executable, but got " +
                       inQuotes(*program));
  auto index = args->getInt("command", 0, int64_t(costs->second.size()) - 1);
  if (!index)
    return index.takeError();
  const CommandCost &cost = costs->second[*index];
  starts[*program] += *index == 0;
  first = std::min(first, *start);
  last = std::max(last, *start + *duration);
  if (cost.isEvent())
    events.add(cost, *duration);
  else
    addCommand(cost, *program, *duration);
  return Status::success();
}

void Profiler::addCommand(const CommandCost &cost, const std::string &program,
                          double duration) {
  Sum &kernel = kernels[{cost.name, cost.routine}];
  kernel.name = cost.name;
  kernel.routine = cost.routine;
  Sum &scope = scopes[cost.scope];
  scope.name = cost.scope.empty() ? "(no scope)" : cost.scope;
  runs[program].name = program;
  for (Sum *sum : {&kernel, &scope, &runs[program], &total})
    sum->add(cost, duration);
}

Status Profiler::readEvents(const JsonCursor &events) {
  auto size = events.arraySize();
  if (!size)
    return size.takeError();
  for (size_t i = 0; i < *size; ++i)
    if (Status s = addEvent(events.element(i)); !s)
      return s;
  if (total.calls == 0)
    return events.error("expects events of commands, but got none");
  if (total.microseconds == 0)
    return events.error("expects events that take time, but all take 0 us");
  return Status::success();
}

/// "gpt2 (program 0123456789abcdef...)"
static std::string describe(const std::string &model,
                            const std::string &digest) {
  return inQuotes(model) + " (program " + printable(digest, 12) + ")";
}

static Status checkIdentity(const JsonCursor &trace, const Json &meta,
                            const std::string &digest) {
  auto identity = trace.get("otherData");
  if (!identity)
    return trace.error("expects a trace that the program's --trace wrote");
  auto model = identity->getString("model");
  auto program = identity->getString("program");
  if (!model)
    return model.takeError();
  if (!program)
    return program.takeError();
  if (*program == digest)
    return Status::success();
  const Json *name = meta.find("name");
  return identity->error("expects a trace of " +
                         describe(name ? textOf(*name) : "", digest) +
                         ", but got one of " + describe(*model, *program));
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static std::vector<Sum> byTime(std::vector<Sum> sums) {
  std::sort(sums.begin(), sums.end(), [](const Sum &a, const Sum &b) {
    return std::tie(b.microseconds, a.name, a.routine) <
           std::tie(a.microseconds, b.name, b.routine);
  });
  return sums;
}

template <typename Map> static std::vector<Sum> valuesOf(const Map &map) {
  std::vector<Sum> sums;
  for (const auto &entry : map)
    sums.push_back(entry.second);
  return byTime(std::move(sums));
}

/// The speeds of the cost table, else the fastest of this trace. Only
/// kernels, scopes and programs with at least 1 % of the time count, since the
/// clock is too coarse for shorter ones.
Peak Profiler::findPeak() const {
  Peak peak;
  if (const Json *speeds = meta.find("speeds"); speeds && speeds->isObject()) {
    if (const Json *speed = speeds->find("gflops"))
      peak.gflops = numberOf(*speed);
    if (const Json *speed = speeds->find("gigabytes_per_second"))
      peak.gigabytes = numberOf(*speed);
    peak.source = "cost table";
    return peak;
  }
  for (const std::vector<Sum> &sums :
       {valuesOf(kernels), valuesOf(scopes), valuesOf(runs)})
    for (const Sum &sum : sums)
      if (sum.microseconds >= 0.01 * total.microseconds) {
        peak.gflops = std::max(peak.gflops, sum.gflops());
        peak.gigabytes = std::max(peak.gigabytes, sum.gigabytes());
      }
  peak.source = "trace";
  return peak;
}

/// Of the time, the part that the work would take at the peak; the longer of
/// arithmetic and traffic. The smallest may be faster than what was measured.
double Peak::shareOf(const Sum &sum) const {
  double share = 0;
  if (gflops > 0)
    share = sum.gflops() / gflops;
  if (gigabytes > 0)
    share = std::max(share, sum.gigabytes() / gigabytes);
  return isGiven() ? share : std::min(share, 1.0);
}

Json Profiler::rows(const std::vector<Sum> &sums, const Peak &peak) const {
  Json list = Json::array();
  for (const Sum &sum : sums) {
    Json row = Json::object();
    row.set("name", sum.name);
    if (!sum.routine.empty())
      row.set("routine", sum.routine);
    row.set("calls", sum.calls);
    row.set("us", sum.microseconds);
    row.set("share", sum.microseconds / total.microseconds);
    row.set("gflops", sum.gflops());
    row.set("gigabytes_per_second", sum.gigabytes());
    row.set("peak_share", peak.shareOf(sum));
    list.push(std::move(row));
  }
  return list;
}

Json Profiler::result() const {
  Peak peak = findPeak();
  Json speeds = Json::object();
  speeds.set("source", peak.source);
  speeds.set("gflops", peak.gflops);
  speeds.set("gigabytes_per_second", peak.gigabytes);
  auto count = [&](const char *program) {
    auto found = starts.find(program);
    return found == starts.end() ? int64_t(0) : found->second;
  };
  auto time = [&](const char *program) {
    auto found = runs.find(program);
    return found == runs.end() ? 0.0 : found->second.microseconds;
  };
  double training = 0;
  for (const char *program :
       {names::kMicro, names::kMicroLater, names::kMicroKeep,
        names::kMicroLaterKeep, names::kDenominators, names::kDenominatorsKeep,
        names::kApply})
    training += time(program);
  Json profile = Json::object();
  int64_t steps = count(names::kApply);
  profile.set("steps", steps);
  profile.set("step_us", steps ? training / steps : 0.0);
  profile.set("total_us", total.microseconds);
  profile.set("span_us", last - first);
  profile.set("events", events.calls);
  profile.set("events_us", events.microseconds);
  profile.set("peak", std::move(speeds));
  profile.set("programs", rows(valuesOf(runs), peak));
  profile.set("kernels", rows(valuesOf(kernels), peak));
  profile.set("scopes", rows(valuesOf(scopes), peak));
  return profile;
}

Expected<Json> weft::makeProfile(const Json &meta, const std::string &digest,
                                 const std::string &tracePath) {
  auto document = readJsonFile(tracePath);
  if (!document)
    return document.takeError();
  JsonCursor trace(*document, tracePath);
  const char *hint = "a run of the program with --trace FILE writes one";
  if (Status s = checkIdentity(trace, meta, digest); !s)
    return s.takeError().hint(hint);
  Profiler profiler(meta);
  if (Status s = profiler.readSchedule(); !s)
    return s.takeError();
  auto events = trace.get("traceEvents");
  if (!events)
    return events.takeError().hint(hint);
  if (Status s = profiler.readEvents(*events); !s)
    return s.takeError().hint(hint);
  Json profile = profiler.result();
  auto dropped = trace.get("otherData")->getInt("dropped", 0);
  profile.set("dropped", dropped ? *dropped : 0);
  return profile;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static double at(const Json &json, const char *field) {
  const Json *value = json.find(field);
  return value ? numberOf(*value) : 0;
}

static void printRows(const Json &profile, const char *field) {
  Json rows = *profile.find(field);
  for (Json &row : rows.asArray())
    if (const Json *routine = row.find("routine"))
      row.set("name", textOf(*row.find("name")) + "  " + textOf(*routine));
  std::printf("%s\n", field);
  printTable("  {time=share:7.1%} {us=us:12.1} {calls=calls:7} "
             "{GFLOP/s=gflops:9.1} {GB/s=gigabytes_per_second:9.1} "
             "{peak=peak_share:7.1%}  {name=name}",
             rows);
}

void weft::printProfile(const Json &profile) {
  const Json &peak = *profile.find("peak");
  bool isGiven = peak.find("source")->asString() == "cost table";
  if (double steps = at(profile, "steps"); steps > 0)
    std::printf("%.0f steps of %.3f ms in commands\n", steps,
                at(profile, "step_us") / 1e3);
  std::printf("all commands %.3f ms, from the first to the last %.3f ms\n",
              at(profile, "total_us") / 1e3, at(profile, "span_us") / 1e3);
  if (double events = at(profile, "events"); events > 0)
    std::printf(
        "events between streams: %.0f, %.3f ms, which are in no share\n",
        events, at(profile, "events_us") / 1e3);
  std::printf("peak %.1f GFLOP/s and %.1f GB/s, %s\n", at(peak, "gflops"),
              at(peak, "gigabytes_per_second"),
              isGiven ? "given by --cost-table when it was compiled"
                      : "measured: the fastest kernels, scopes and programs "
                        "of this trace with a percent of its time");
  if (double dropped = at(profile, "dropped"); dropped > 0)
    std::printf("the trace was full: %.0f more calls are not in it\n", dropped);
  for (const char *field : {"programs", "kernels", "scopes"})
    printRows(profile, field);
}
