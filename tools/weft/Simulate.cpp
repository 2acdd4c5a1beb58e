//===- Simulate.cpp - Estimate a step on a cluster ------------------------===//

#include "ToolCommands.h"

#include "ViewTable.h"

#include "weft/Base/StandardStreams.h"
#include "weft/Formats/Json.h"
#include "weft/Pipeline/Driver/Compiler.h"
#include "weft/Pipeline/Simulate/Simulation.h"
#include "weft/Pipeline/Targets/Target.h"
#include "weft/Schedule/CostTableFile.h"

#include <algorithm>

using namespace weft;

std::vector<FlagSpec> weft::simulateFlags() {
  const FlagSpec flags[] = {{"dry-run", FlagKind::Switch, DriverFlag, "", "",
                             "write nothing: print the estimated time and "
                             "memory of a step, on this mesh and similar ones"},
                            {"json", FlagKind::Switch, DriverFlag, "", "",
                             "with --dry-run: as JSON"}};
  std::vector<FlagSpec> all;
  appendFlags(all, flags, FlagTopic::General);
  markCommon(all, {"dry-run"});
  return all;
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
  if (!outlook.chosen.empty())
    json.set("chosen", outlook.chosen);
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

static constexpr const char *kMeshLayout = "{mesh=mesh:-24} {zero=zero:4}";
static constexpr const char *kStepLayout =
    " {step ms=step_us:12.3m} {exposed ms=exposed_us:12.3m} "
    "{hidden=hidden:9.1%} {tokens/s=tokens_per_s:14.0?} "
    "{peak/rank=peak_bytes:12B} {sent/rank=sent_bytes:12B}";
static constexpr const char *kReservedLayout = " {reserved=reserved_bytes:12B}";
static constexpr const char *kChosenLayout = "  {chosen=chosen}";

static std::string lineOf(const Json &outlook) {
  std::string layout = kMeshLayout;
  if (outlook.find("problem"))
    return tableLine(layout + " {=problem}", outlook);
  layout += kStepLayout;
  if (outlook.find("reserved_bytes")->asInt() > 0)
    layout += kReservedLayout;
  if (outlook.find("chosen"))
    layout += kChosenLayout;
  return tableLine(layout, outlook);
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
  Json list = Json::array();
  for (const Outlook &outlook : outlooks)
    list.push(toJson(outlook));
  if (flags.getSwitch("json")) {
    Json json = Json::object();
    json.set("rates", rates.empty() ? Json() : Json(rates));
    json.set("simulated", std::move(list));
    printText(json.pretty());
    return;
  }
  const bool isReserved = outlooks.front().reservedBytes > 0;
  const bool isChosen =
      std::any_of(outlooks.begin(), outlooks.end(),
                  [](const Outlook &each) { return !each.chosen.empty(); });
  printEscaped("simulated, a step of one micro-step" +
               (rates.empty() ? "" : ", at the rates of " + rates) + "\n" +
               tableTitles(std::string(kMeshLayout) + kStepLayout +
                           (isReserved ? kReservedLayout : "") +
                           (isChosen ? kChosenLayout : "")));
  for (Json &outlook : list.asArray()) {
    if (outlook.find("mesh")->asString().empty())
      outlook.set("mesh", "one rank");
    printText(lineOf(outlook));
  }
}

Status weft::simulateModel(const FlagValues &flags, const std::string &model) {
  for (const char *flag : {"from", "to", "emit", "output", "dump-dir",
                           "reproducer", "print-pipeline"})
    if (flags.isSet(flag))
      return usageError("expects --dry-run without --" + std::string(flag) +
                        ", but got both");
  if (flags.getSwitch("inference"))
    return usageError("expects --dry-run without --inference, but got both")
        .hint("it estimates a training step; weft inspect PROGRAM --schedule "
              "has estimates of each program");
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
