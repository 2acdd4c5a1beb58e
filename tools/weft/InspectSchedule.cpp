//===- InspectSchedule.cpp - When the commands of a program run -----------===//

#include "InspectViews.h"

#include "weft/Base/Text.h"

#include <cstdio>

using namespace weft;

static std::string textOf(const Json &json, const char *field) {
  const Json *value = json.find(field);
  return value && value->isString() ? value->asString() : "";
}

static double numberOf(const Json &json, const char *field) {
  const Json *value = json.find(field);
  return value && value->isNumber() ? value->asDouble() : 0.0;
}

static void printCollective(const Json &each) {
  const std::string hidden = textOf(each, "hidden_by");
  std::printf("  %5lld %12.1f %10.1f %6.0f %10.1f  %-32s %-12s %s%s\n",
              static_cast<long long>(numberOf(each, "command")),
              numberOf(each, "begin_us"), numberOf(each, "time_us"),
              numberOf(each, "wait"), numberOf(each, "exposed_us"),
              textOf(each, "name").c_str(), textOf(each, "scope").c_str(),
              textOf(each, "reason").c_str(),
              hidden.empty() ? "" : ("; beside " + hidden).c_str());
}

static void printProgram(const std::string &name, const Json &program) {
  const double sent = numberOf(program, "collectives_us");
  const double exposed = numberOf(program, "exposed_us");
  std::printf("%s: %.1f us, %.1f us of collectives, %.1f us exposed, %.0f %% "
              "hidden\n",
              name.c_str(), numberOf(program, "time_us"), sent, exposed,
              sent > 0 ? 100 * std::max(0.0, 1 - exposed / sent) : 0.0);
  const Json *collectives = program.find("collectives");
  if (!collectives || !collectives->isArray() || collectives->asArray().empty())
    return;
  std::printf("  %5s %12s %10s %6s %10s  %-32s %-12s %s\n", "begin", "at us",
              "takes us", "wait", "exposed us", "collective", "unit", "why");
  for (const Json &each : collectives->asArray())
    printCollective(each);
}

void weft::printOverlap(const Json &overlap) {
  if (!overlap.isObject())
    return;
  for (const JsonMember &program : overlap.asObject())
    printProgram(program.name, program.value);
}
