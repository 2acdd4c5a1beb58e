//===- CommandCosts.cpp - Arithmetic and traffic of commands --------------===//

#include "CommandCosts.h"

using namespace weft;

static double numberIn(const Json &json) {
  return json.isNumber() ? json.asDouble() : 0;
}

static std::string textIn(const Json &json) {
  return json.isString() ? json.asString() : "";
}

static Expected<CommandCost> readCost(const Json &row) {
  if (!row.isArray() || row.asArray().size() < 12)
    return inputError("expects a program of this version of weft");
  const Json::Array &fields = row.asArray();
  CommandCost cost;
  cost.routine = textIn(fields[0]);
  cost.scope = textIn(fields[1]);
  cost.isGenerated = fields[3].isBool() && fields[3].asBool();
  cost.name = textIn(fields[4]);
  cost.flops = numberIn(fields[5]);
  cost.bytes = numberIn(fields[6]);
  if (!fields[11].isArray())
    return inputError("expects a program of this version of weft");
  for (const Json &kind : fields[11].asArray())
    cost.kinds.push_back(textIn(kind));
  return cost;
}

Expected<std::map<std::string, std::vector<CommandCost>>>
weft::readCommandCosts(const Json &metadata) {
  const Json *schedule = metadata.find("schedule");
  if (!schedule || !schedule->isObject())
    return inputError("expects a program that describes its commands");
  std::map<std::string, std::vector<CommandCost>> programs;
  for (const JsonMember &program : schedule->asObject()) {
    std::vector<CommandCost> &costs = programs[program.name];
    if (!program.value.isArray())
      return inputError("expects a program of this version of weft");
    for (const Json &row : program.value.asArray()) {
      Expected<CommandCost> cost = readCost(row);
      if (!cost)
        return cost.takeError();
      costs.push_back(std::move(*cost));
    }
  }
  return programs;
}
