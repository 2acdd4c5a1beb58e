//===- InspectParameters.cpp - Parameters and update groups ---------------===//

#include "InspectViews.h"
#include "ViewTable.h"

#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"

#include <cstdio>
#include <map>

using namespace weft;

static int64_t elementsOf(const Json &parameter) {
  int64_t count = 1;
  if (const Json *shape = parameter.find("shape"); shape && shape->isArray())
    for (const Json &dim : shape->asArray())
      count *= dim.isInt() ? dim.asInt() : 1;
  return count;
}

/// The weight decay of a group, which may depend on the run.
static std::string decayText(const Json &group) {
  const Json *scale = group.find("decay_scale"),
             *numbers = group.find("numbers");
  const double factor = scale && scale->isNumber() ? scale->asDouble() : 1;
  const Json *own = numbers ? numbers->find("weight_decay") : nullptr;
  if (own && own->isNumber())
    return numberText(factor * own->asDouble(), 3);
  if (factor == 0)
    return "0";
  return (factor == 1 ? "" : numberText(factor, 3) + " x ") + "--weight-decay";
}

/// The other hyper-parameters of a group: "momentum 0.9, nesterov true".
static std::string numbersText(const Json &group) {
  std::string text;
  if (const Json *numbers = group.find("numbers");
      numbers && numbers->isObject())
    for (const JsonMember &number : numbers->asObject())
      if (number.name != "weight_decay")
        text += (text.empty() ? "" : ", ") + number.name + " " +
                viewText(&number.value);
  return text;
}

/// Prints the groups of parameters that are updated alike; the group of each
/// parameter.
static std::map<std::string, int64_t> printGroups(const Json &meta) {
  std::map<std::string, int64_t> groupOf;
  const Json *groups = meta.find("update_groups");
  if (!groups || !groups->isArray() || groups->asArray().empty())
    return groupOf;
  Json rows = Json::array();
  for (const Json &group : groups->asArray()) {
    const auto index = static_cast<int64_t>(rows.asArray().size());
    const Json *params = group.find("params");
    int64_t count = 0;
    if (params && params->isArray())
      for (const Json &param : params->asArray()) {
        groupOf[viewText(&param)] = index;
        ++count;
      }
    Json row = group;
    row.set("index", index);
    row.set("count", count);
    if (const Json *scale = group.find("lr_scale"); scale && scale->isNumber())
      row.set("lr_scale", numberText(scale->asDouble(), 3));
    row.set("decay", decayText(group));
    row.set("own", numbersText(group));
    rows.push(std::move(row));
  }
  std::printf("update groups\n");
  printTable("  {group=index:5}  {optimizer=optimizer:-9}  "
             "{instance=name:-10}  {parameters=count:10}  "
             "{lr_scale=lr_scale:8}  {decay=decay:-22}  {own numbers=own}",
             rows);
  return groupOf;
}

void weft::printParameters(const Json &meta) {
  if (const Json *fields = meta.find("config_fields");
      fields && fields->isArray() && !fields->asArray().empty()) {
    std::printf("configuration (* = default, not in config.json)\n");
    for (const Json &field : fields->asArray())
      printText(tableLine(isSet(field, "default") ? "  * {=field:-28} {=value}"
                                                  : "    {=field:-28} {=value}",
                          field));
  }
  const std::map<std::string, int64_t> groupOf = printGroups(meta);
  int64_t total = 0, trainable = 0;
  std::printf("parameters\n");
  const Json *parameters = meta.find("parameters");
  if (!parameters || !parameters->isArray())
    return;
  for (Json parameter : parameters->asArray()) {
    const int64_t count = elementsOf(parameter);
    total += count;
    trainable += isSet(parameter, "trainable") ? count : 0;
    parameter.set("elements", count);
    const auto group = groupOf.find(viewText(parameter.find("name")));
    parameter.set("note", !isSet(parameter, "trainable") ? " frozen"
                          : group == groupOf.end()
                              ? ""
                              : " group " + std::to_string(group->second));
    printText(tableLine(
        "  {=name:-48} {=dtype:-5} {=elements:12} {=shape}{=note}", parameter));
  }
  std::printf("  total %lld, trainable %lld\n", static_cast<long long>(total),
              static_cast<long long>(trainable));
}
