//===- Roofline.cpp - Lower bounds of the time of commands ----------------===//
//
// A command takes at least its arithmetic, its traffic and its instructions,
// each at the rate of the machine. The difference between a bound and a
// measured time is the possible gain of a better kernel or plan.
//
//===----------------------------------------------------------------------===//

#include "Roofline.h"

#include "InspectViews.h"
#include "ViewTable.h"

#include "weft/Abi/Names.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Formats/JsonFields.h"

#include <algorithm>
#include <cstdio>

using namespace weft;

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {

/// Bounds of one command or of several, in microseconds.
struct Bounds {
  int64_t calls = 0;
  double flops = 0, bytes = 0, computeUs = 0, memoryUs = 0, boundUs = 0;
  /// Null where no command has known instructions.
  std::optional<double> instructions, issueUs;

  void add(const Bounds &other);
  const char *getLimit() const;
  void write(Json &row) const;
};

using MeasuredTimes = std::map<std::pair<std::string, std::string>, double>;

class RooflineMaker {
public:
  RooflineMaker(const RooflineRates &rates,
                std::map<std::string, double> instructions)
      : rates(rates), instructions(std::move(instructions)) {}

  void addCommand(const std::string &program, size_t index,
                  const CommandCost &command);
  Json result(const Json *profile) const;

private:
  Bounds boundsOf(const CommandCost &command) const;

  const RooflineRates &rates;
  std::map<std::string, double> instructions;
  Json commands = Json::array();
  std::map<std::pair<std::string, std::string>, Bounds> kinds;
  std::map<std::string, Bounds> scopes;
  Bounds total;
};

} // namespace

static void addKnown(std::optional<double> &sum,
                     const std::optional<double> &term) {
  if (term)
    sum = sum.value_or(0) + *term;
}

void Bounds::add(const Bounds &other) {
  calls += other.calls;
  flops += other.flops;
  bytes += other.bytes;
  computeUs += other.computeUs;
  memoryUs += other.memoryUs;
  boundUs += other.boundUs;
  addKnown(instructions, other.instructions);
  addKnown(issueUs, other.issueUs);
}

const char *Bounds::getLimit() const {
  const double issue = issueUs.value_or(0);
  if (issue > std::max(computeUs, memoryUs))
    return "issue";
  return computeUs > memoryUs ? "compute" : "memory";
}

static Json knownOrNull(const std::optional<double> &number) {
  return number ? Json(*number) : Json();
}

void Bounds::write(Json &row) const {
  row.set("flops", flops);
  row.set("bytes", int64_t(bytes));
  row.set("instructions", knownOrNull(instructions));
  row.set("compute_us", computeUs);
  row.set("memory_us", memoryUs);
  row.set("issue_us", knownOrNull(issueUs));
  row.set("bound_us", boundUs);
  row.set("limit", getLimit());
}

Bounds RooflineMaker::boundsOf(const CommandCost &command) const {
  const Rates machine = rates.getRates(command);
  Bounds bounds;
  bounds.calls = 1;
  bounds.flops = command.flops;
  bounds.bytes = command.bytes;
  bounds.computeUs = command.flops / (machine.gflops * 1e3);
  bounds.memoryUs = command.bytes / (machine.gigabytesPerSecond * 1e3);
  auto counted = instructions.find(command.routine);
  if (command.isGenerated && counted != instructions.end()) {
    bounds.instructions = counted->second;
    if (rates.issueGiga)
      bounds.issueUs = counted->second / (*rates.issueGiga * 1e3);
  }
  bounds.boundUs =
      std::max({bounds.computeUs, bounds.memoryUs, bounds.issueUs.value_or(0)});
  return bounds;
}

void RooflineMaker::addCommand(const std::string &program, size_t index,
                               const CommandCost &command) {
  const Bounds bounds = boundsOf(command);
  Json row = Json::object();
  row.set("program", program);
  row.set("index", index);
  row.set("symbol", command.routine);
  row.set("name", command.name);
  row.set("scope", command.scope);
  row.set("generated", command.isGenerated);
  bounds.write(row);
  commands.push(std::move(row));
  kinds[{command.name, command.routine}].add(bounds);
  scopes[command.scope.empty() ? "(no scope)" : command.scope].add(bounds);
  total.add(bounds);
}

//===----------------------------------------------------------------------===//
// Measured times
//===----------------------------------------------------------------------===//

static double numberAt(const Json &row, const char *field) {
  const Json *value = row.find(field);
  return value && value->isNumber() ? value->asDouble() : 0;
}

static std::string textAt(const Json &row, const char *field) {
  const Json *value = row.find(field);
  return value && value->isString() ? value->asString() : "";
}

/// Microseconds of one call by name and symbol, of a step by scope and "".
static MeasuredTimes readTimes(const Json *profile, const char *list,
                               const char *count) {
  MeasuredTimes times;
  if (!profile)
    return times;
  for (const Json &row : profile->find(list)->asArray())
    if (const double calls =
            numberAt(count == std::string("steps") ? *profile : row, count);
        calls > 0)
      times[{textAt(row, "name"), textAt(row, "routine")}] =
          numberAt(row, "us") / calls;
  return times;
}

static void setMeasured(Json &row, const MeasuredTimes &times,
                        const std::pair<std::string, std::string> &key,
                        double calls, double boundUs) {
  auto found = times.find(key);
  const bool isKnown = found != times.end();
  row.set("measured_us", isKnown ? Json(calls * found->second) : Json());
  row.set("factor", isKnown && boundUs > 0
                        ? Json(calls * found->second / boundUs)
                        : Json());
}

static std::string nameAndSymbol(const Json &row) {
  return textAt(row, "name") + " " + textAt(row, "symbol");
}

static void sortByBound(Json &rows) {
  std::sort(rows.asArray().begin(), rows.asArray().end(),
            [](const Json &a, const Json &b) {
              return std::pair(numberAt(b, "bound_us"), nameAndSymbol(a)) <
                     std::pair(numberAt(a, "bound_us"), nameAndSymbol(b));
            });
}

Json RooflineMaker::result(const Json *profile) const {
  const MeasuredTimes ofKinds = readTimes(profile, "kernels", "calls"),
                      ofScopes = readTimes(profile, "scopes", "steps");
  Json kindRows = Json::array(), scopeRows = Json::array();
  for (const auto &[key, bounds] : kinds) {
    Json &row = kindRows.push(Json::object());
    row.set("name", key.first);
    row.set("symbol", key.second);
    row.set("calls", bounds.calls);
    bounds.write(row);
    if (profile)
      setMeasured(row, ofKinds, key, double(bounds.calls), bounds.boundUs);
  }
  for (const auto &[name, bounds] : scopes) {
    Json &row = scopeRows.push(Json::object());
    row.set("name", name);
    row.set("calls", bounds.calls);
    bounds.write(row);
    if (profile)
      setMeasured(row, ofScopes, {name, ""}, 1, bounds.boundUs);
  }
  sortByBound(kindRows);
  sortByBound(scopeRows);
  Json all = Json::object();
  all.set("calls", total.calls);
  total.write(all);
  Json roofline = Json::object();
  roofline.set("device", rates.name);
  roofline.set("commands", commands);
  roofline.set("kinds", std::move(kindRows));
  roofline.set("scopes", std::move(scopeRows));
  roofline.set("total", std::move(all));
  return roofline;
}

//===----------------------------------------------------------------------===//
// The view
//===----------------------------------------------------------------------===//

static Expected<std::map<std::string, double>>
readInstructions(const std::optional<std::string> &path) {
  std::map<std::string, double> counts;
  if (!path)
    return counts;
  Expected<Json> document = readJsonFile(*path);
  if (!document)
    return document.takeError();
  Status status = forMembers(
      JsonCursor(*document, *path),
      [&](const std::string &symbol, const JsonCursor &count) -> Status {
        Expected<int64_t> number = count.asInt(0);
        if (!number)
          return number.takeError();
        counts[symbol] = double(*number);
        return Status::success();
      });
  if (!status)
    return status.takeError().hint("the file counts calls of kernels, as in "
                                   "{\"k_0123456789abcdef\": 4096}");
  return counts;
}

Expected<Json> weft::makeRoofline(const Json &metadata,
                                  const RooflineInputs &inputs) {
  const std::string target = viewText(metadata.find("target"));
  Expected<RooflineRates> rates = RooflineRates::find(
      inputs.device, llvm::StringRef(target).split(':').first);
  if (!rates)
    return rates.takeError();
  auto counts = readInstructions(inputs.instructions);
  if (!counts)
    return counts.takeError();
  auto programs = readCommandCosts(metadata);
  if (!programs)
    return programs.takeError();
  RooflineMaker maker(*rates, std::move(*counts));
  for (const char *program :
       {names::kDenominators, names::kMicro, names::kApply})
    if (auto found = programs->find(program); found != programs->end())
      for (size_t i = 0; i != found->second.size(); ++i)
        maker.addCommand(program, i, found->second[i]);
  return maker.result(inputs.profile);
}

Expected<Json> weft::inspectRoofline(const Json &metadata,
                                     const FlagValues &flags,
                                     const std::optional<Json> &profile) {
  if (const std::string target = viewText(metadata.find("target"));
      !flags.isSet("device") && target.rfind("cuda", 0) != 0)
    return usageError("--roofline expects --device=FILE.toml for a program "
                      "for ",
                      target, ", but got none")
        .hint("weft bench -o FILE.toml measures a cost table of this machine");
  RooflineInputs inputs;
  inputs.device = flags.getString("device");
  if (flags.isSet("instructions"))
    inputs.instructions = flags.getText("instructions");
  inputs.profile = profile ? &*profile : nullptr;
  return makeRoofline(metadata, inputs);
}

static constexpr const char *kBoundLayout =
    "{bound us=bound_us:10.1} {limit=limit:-7} {compute us=compute_us:10.1} "
    "{memory us=memory_us:10.1} {issue us=issue_us:9.1?} {GFLOP=gflop:10.3} "
    "{bytes=bytes:12B} {10^6 instr=mega:10.3?}";
static constexpr const char *kMeasuredLayout =
    " {measured us=measured_us:11.1?} {times bound=factor:11.2?}";

static void printBounds(const char *title, const std::string &layout,
                        Json rows) {
  for (Json &row : rows.asArray()) {
    row.set("gflop", numberAt(row, "flops") / 1e9);
    const Json *count = row.find("instructions");
    row.set("mega", count->isNumber() ? Json(count->asDouble() / 1e6) : Json());
  }
  std::printf("%s\n", title);
  printTable(layout, rows);
}

void weft::printRoofline(const Json &roofline) {
  const Json &total = *roofline.find("total");
  printEscaped("bounds on " + textAt(roofline, "device") +
               ", a step of one micro-batch\n");
  std::printf("%.0f commands, %.3f ms: the sum of the largest bound of each\n",
              numberAt(total, "calls"), numberAt(total, "bound_us") / 1e3);
  const std::string bounds = kBoundLayout;
  const Json &kinds = *roofline.find("kinds");
  const bool isMeasured =
      !kinds.asArray().empty() && kinds.asArray().front().find("measured_us");
  const std::string measured = isMeasured ? kMeasuredLayout : "";
  printBounds("commands",
              "  {program=program:-12} {command=index:7} " + bounds +
                  "  {name=name:-40} {scope=scope:-20} {symbol=symbol}",
              *roofline.find("commands"));
  printBounds("kinds",
              "  {calls=calls:6} " + bounds + measured +
                  "  {name=name:-40} {symbol=symbol}",
              kinds);
  printBounds("scopes",
              "  {calls=calls:6} " + bounds + measured + "  {scope=name}",
              *roofline.find("scopes"));
}
