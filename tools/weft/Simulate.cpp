//===- Simulate.cpp - What a step would take on a cluster -----------------===//

#include "ToolCommands.h"

#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Formats/Json.h"
#include "weft/Pipeline/Driver/Compiler.h"
#include "weft/Pipeline/Simulate/Simulation.h"
#include "weft/Pipeline/Targets/Target.h"
#include "weft/Schedule/CostTableFile.h"

#include <cmath>
#include <cstdio>

using namespace weft;

std::vector<FlagSpec> weft::simulateFlags() {
  return {{"dry-run", FlagKind::Switch, DriverFlag, "", "",
           "write nothing: print what a step takes by the estimates, on this "
           "mesh and those beside it"},
          {"json", FlagKind::Switch, DriverFlag, "", "",
           "with --dry-run: as JSON"}};
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static Json toJson(const Outlook &outlook) {
  Json json = Json::object();
  json.set("mesh", outlook.mesh);
  json.set("zero", outlook.zero);
  if (!outlook.problem.empty()) {
    json.set("problem", outlook.problem);
    return json;
  }
  json.set("ranks", outlook.ranks);
  json.set("step_us", outlook.step.us);
  json.set("collectives_us", outlook.step.collectivesUs);
  json.set("exposed_us", outlook.step.exposedUs);
  json.set("hidden", outlook.getHiddenPart());
  json.set("tokens_per_s",
           outlook.tokens > 0 ? Json(outlook.getTokensPerSecond()) : Json());
  json.set("peak_bytes", outlook.peakBytes);
  json.set("reserved_bytes", outlook.reservedBytes);
  json.set("sent_bytes", outlook.step.sentBytes);
  return json;
}

static void printRow(const Outlook &outlook) {
  const std::string mesh = outlook.mesh.empty() ? "one rank" : outlook.mesh;
  std::printf("%-24s %4s ", mesh.c_str(), outlook.zero.c_str());
  if (!outlook.problem.empty()) {
    printEscaped(outlook.problem + "\n");
    return;
  }
  std::string tokens = "-";
  if (outlook.tokens > 0)
    tokens = std::to_string(std::llround(outlook.getTokensPerSecond()));
  std::printf("%12.3f %12.3f %7.1f %% %14s %12s %12s", outlook.step.us / 1e3,
              outlook.step.exposedUs / 1e3, 100 * outlook.getHiddenPart(),
              tokens.c_str(), humanBytes(outlook.peakBytes).c_str(),
              humanBytes(outlook.step.sentBytes).c_str());
  if (outlook.reservedBytes > 0)
    std::printf(" %12s", humanBytes(outlook.reservedBytes).c_str());
  std::printf("\n");
}

/// The machine whose built-in rates are used if no file gives rates, else "".
static std::string nameRates(const Outlook &outlook, const Target &target) {
  if (outlook.hasGivenRates)
    return "";
  return findKnownRates(target.getRates())->machine.str();
}

static void print(const std::vector<Outlook> &outlooks, const FlagValues &flags,
                  const Target &target) {
  const std::string rates = nameRates(outlooks.front(), target);
  if (flags.getSwitch("json")) {
    Json list = Json::array();
    for (const Outlook &outlook : outlooks)
      list.push(toJson(outlook));
    Json json = Json::object();
    json.set("rates", rates.empty() ? Json() : Json(rates));
    json.set("simulated", std::move(list));
    printText(json.pretty());
    return;
  }
  printEscaped("simulated, a step of one micro-step" +
               (rates.empty() ? "" : ", at the rates of " + rates) + "\n");
  std::printf("%-24s %4s %12s %12s %9s %14s %12s %12s", "mesh", "zero",
              "step ms", "exposed ms", "hidden", "tokens/s", "peak/rank",
              "sent/rank");
  if (outlooks.front().reservedBytes > 0)
    std::printf(" %12s", "reserved");
  std::printf("\n");
  for (const Outlook &outlook : outlooks)
    printRow(outlook);
}

Status weft::simulateModel(const FlagValues &flags, const std::string &model) {
  for (const char *flag : {"from", "to", "emit", "output", "dump-dir",
                           "reproducer", "print-pipeline"})
    if (flags.isSet(flag))
      return usageError("expects --dry-run without --" + std::string(flag) +
                        ", but got both");
  Compiler compiler;
  compiler.keepSnapshots();
  if (Status status = compiler.load(model, flags); !status)
    return status;
  auto outlooks = simulateLayouts(compiler);
  if (!outlooks)
    return outlooks.takeError();
  print(*outlooks, flags, compiler.target());
  return Status::success();
}
