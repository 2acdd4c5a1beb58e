//===- BenchRun.cpp - How long the commands of a model take ---------------===//

#include "BenchRun.h"

#include "CompileProgram.h"

#include "weft/Formats/Durable.h"
#include "weft/Formats/Json.h"
#include "weft/Formats/OutputFile.h"
#include "weft/Pipeline/OverlapFit.h"
#include "weft/Runtime/Execute/ThreadTeam.h"
#include "weft/Support/HelperProgram.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace weft;

using Costs = std::map<std::string, std::vector<CostSample>>;

/// Text that every model has tokens for: a byte each.
static std::string makeText() {
  std::string text;
  uint32_t state = 1;
  for (int i = 0; i < (1 << 16); ++i) {
    state = state * 1664525 + 1013904223;
    text += static_cast<char>('a' + (state >> 24) % 26);
  }
  return text;
}

/// Compiles `model` to `program`.
static Expected<Costs> compileModel(const std::string &model,
                                    const std::vector<std::string> &flags,
                                    const std::string &program) {
  auto compiler = compileToPlan(model, flags);
  if (!compiler)
    return compiler.takeError();
  Costs costs = describeCosts((*compiler)->module());
  Expected<std::string> bytes = compileProgram(**compiler);
  if (!bytes)
    return bytes.takeError();
  if (Status status = writeFile(program, *bytes, FileMode::Executable); !status)
    return status.takeError();
  return costs;
}

static std::vector<std::string> makeCommand(const std::string &program,
                                            const BenchOptions &options,
                                            const std::string &data,
                                            const std::string &trace) {
  std::vector<std::string> command;
  if (options.ranks > 1 && !options.areThreads)
    command = {"/proc/self/exe", "launch"}; // whatever has its name now
  command.insert(command.end(),
                 {program, "--data=" + data, "--data-format=text",
                  "--steps=" + std::to_string(options.steps),
                  "--trace=" + trace, "--progress=none"});
  if (options.threads > 0)
    command.push_back("--threads=" + std::to_string(options.threads));
  if (options.ranks > 1 && options.areThreads)
    command.push_back("--loopback=" + std::to_string(options.ranks));
  return command;
}

double weft::medianOf(std::vector<double> values) {
  auto middle = values.begin() + int64_t(values.size()) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// What a step adds up: now and then a command takes much longer, and ranks
/// wait for the slowest.
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
};

class Trace {
public:
  explicit Trace(const Costs &costs) : costs(costs) {}

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
  std::vector<Event> events;
};
} // namespace

/// What is none, or was only planned, is passed over.
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
  auto args = event.get("args");
  if (!args)
    return args.takeError();
  const int64_t size =
      found == costs.end() ? 0 : static_cast<int64_t>(found->second.size());
  auto index = args->getInt("command", 0, size - 1);
  if (!index)
    return index.takeError();
  events.push_back({*program, static_cast<size_t>(*index), *begin, *duration});
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
          "expects a whole trace, but it was full: fewer --steps "
          "do");
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

/// Steps whose commands look up or make what later ones find ready.
static constexpr size_t kFirstSteps = 2;

std::vector<CostSample> Trace::getSamples() const {
  std::map<std::pair<std::string, size_t>, std::vector<double>> times;
  for (const Event &event : events)
    times[{event.program, event.command}].push_back(event.us);
  std::vector<CostSample> samples;
  for (const auto &[command, all] : times) {
    samples.push_back(costs.at(command.first)[command.second]);
    const size_t left = std::min(kFirstSteps, all.size() - 1);
    samples.back().us = meanOf(llvm::ArrayRef(all).drop_front(left));
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

/// As Timeline::getExposed: what records take is between commands. Steps have
/// one micro-step here, so that each command runs once in a step.
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

/// What a run said of its end, with its code.
static Error describeEnd(const HelperEnd &end) {
  if (end.code < 0)
    return Error(ExitCode::Device,
                 "cannot run what is measured: " + end.problem)
        .hint("programs are run in the folder for temporary files: TMPDIR "
              "names another one");
  llvm::StringRef said = end.said;
  said = said.take_front(said.find("\nhint: ")).trim();
  said = said.substr(said.rfind('\n') + 1);
  said.consume_front("weft: error: ");
  return Error(ExitCode(end.code), "a run that is measured ended with " +
                                       std::to_string(end.code) +
                                       (said.empty() ? "" : ": " + said.str()));
}

static std::string programIn(const std::string &folder) {
  return folder + "/program";
}

Expected<BenchProgram>
BenchProgram::compile(const BenchModel &model,
                      const std::vector<std::string> &flags,
                      const std::string &folder) {
  if (Status status = makeDirectories(folder); !status)
    return status.takeError();
  if (Status status = writeFile(folder + "/config.json", model.config); !status)
    return status.takeError();
  std::vector<std::string> all = flags;
  all.push_back("--batch=" + std::to_string(model.batch));
  all.push_back("--seq=" + std::to_string(model.seq));
  Expected<Costs> costs = compileModel(folder, all, programIn(folder));
  if (!costs)
    return costs.takeError();
  BenchProgram program;
  program.folder = folder;
  program.flags = std::move(all);
  program.costs = std::move(*costs);
  return program;
}

Expected<BenchTimes> BenchProgram::run(const BenchOptions &options) const {
  const std::string data = folder + "/data.txt", trace = folder + "/trace.json";
  if (Status status = writeFile(data, makeText()); !status)
    return status.takeError();
  unbindThread();
  const HelperEnd end = waitForHelper(
      makeCommand(programIn(folder), options, data, trace), folder);
  if (end.code != 0)
    return describeEnd(end);
  Trace events(costs);
  if (Status status = events.read(trace); !status)
    return status.takeError();
  return BenchTimes{events.getSamples(), events.getHandOverUs(),
                    events.getExposedUs()};
}
