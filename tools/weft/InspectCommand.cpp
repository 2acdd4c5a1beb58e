//===- InspectCommand.cpp - weft inspect ----------------------------------===//

#include "CommandHelp.h"
#include "InspectViews.h"
#include "ToolCommands.h"
#include "ViewTable.h"

#include "weft/Base/Flags.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/Json.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <optional>

using namespace weft;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static std::string textOf(const Json *value) {
  if (!value)
    return "";
  // Names may come from a file of somebody else.
  return value->isString() ? escaped(value->asString(), "\n")
                           : value->compact();
}

static int64_t elementsOf(const Json &parameter) {
  int64_t count = 1;
  if (const Json *shape = parameter.find("shape"); shape && shape->isArray())
    for (const Json &dim : shape->asArray())
      count *= dim.isInt() ? dim.asInt() : 1;
  return count;
}

static bool isSet(const Json &json, const char *field) {
  const Json *flag = json.find(field);
  return flag && flag->isBool() && flag->asBool();
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
                textOf(&number.value);
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
        groupOf[textOf(&param)] = index;
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

static void printParameters(const Json &meta) {
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
    const auto group = groupOf.find(textOf(parameter.find("name")));
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

/// Calls `visit(program, command)` for each command of the schedule, whose list
/// of values becomes an object.
template <typename Visit>
static void forEachCommand(const Json &meta, Visit visit) {
  static constexpr const char *kFields[] = {
      "symbol", "scope",  "us",       "generated", "name",  "flops",
      "bytes",  "stream", "begin_us", "time_us",   "in_use"};
  const Json *schedule = meta.find("schedule");
  if (!schedule || !schedule->isObject())
    return;
  for (const JsonMember &program : schedule->asObject())
    if (program.value.isArray())
      for (const Json &values : program.value.asArray())
        if (values.isArray() && values.asArray().size() >= 5) {
          Json command = Json::object();
          const char *const *field = kFields;
          for (const Json &value : values.asArray())
            if (field != std::end(kFields))
              command.set(*field++, value);
          visit(program.name, command);
        }
}

/// The field of the metadata.
static const char kOverlap[] = "overlap";

/// How the collectives of a program hide.
static void printOverlap(const std::string &name, const Json &program) {
  auto number = [&](const char *field) {
    const Json *value = program.find(field);
    return value && value->isNumber() ? value->asDouble() : 0.0;
  };
  const double sent = number("collectives_us"), exposed = number("exposed_us");
  std::printf("%s: %.1f us, %.1f us of collectives, %.1f us exposed, %.0f %% "
              "hidden\n",
              name.c_str(), number("time_us"), sent, exposed,
              sent > 0 ? 100 * std::max(0.0, 1 - exposed / sent) : 0.0);
  const Json *collectives = program.find("collectives");
  if (!collectives || !collectives->isArray() || collectives->asArray().empty())
    return;
  Json rows = *collectives;
  for (Json &row : rows.asArray())
    if (const std::string by = textOf(row.find("hidden_by")); !by.empty())
      row.set("reason", textOf(row.find("reason")) + "; overlaps with " + by);
  printTable("  {begin=command:5.0} {at us=begin_us:12.1} "
             "{takes us=time_us:10.1} {wait=wait:6.0} "
             "{exposed us=exposed_us:10.1}  {collective=name:-32} "
             "{unit=scope:-12} {why=reason}",
             rows);
}

static void printSchedule(const Json &meta) {
  if (const Json *overlap = meta.find(kOverlap); overlap && overlap->isObject())
    for (const JsonMember &program : overlap->asObject())
      printOverlap(program.name, program.value);
  std::string last;
  size_t index = 0;
  forEachCommand(meta, [&](const std::string &program, Json &command) {
    if (program != last) {
      std::printf("%s\n", program.c_str());
      last = program;
      index = 0;
    }
    command.set("index", index++);
    printText(tableLine("  {=index:5} {=us:10.1} us {=in_use:12B}  {=name:-40} "
                        "{=scope:-24} {=symbol}",
                        command));
  });
}

/// Name of the field that the command adds to the metadata for its images.
static const char kKernels[] = "kernels";
/// Name of the metadata field that expandSharding replaces.
static const char kSharding[] = "sharding";

static void printKernels(const Json &meta) {
  std::map<std::pair<std::string, std::string>, Json> uses; // name, symbol
  forEachCommand(meta, [&](const std::string &, const Json &command) {
    Json &use =
        uses[{textOf(command.find("name")), textOf(command.find("symbol"))}];
    const Json *calls = use.find("calls");
    const int64_t before = calls ? calls->asInt() : 0;
    if (!calls)
      use = command;
    use.set("calls", before + 1);
    use.set("kind", isSet(command, "generated") ? "generated" : "library");
  });
  Json rows = Json::array();
  for (auto &[name, use] : uses)
    rows.push(std::move(use));
  printTable("  {calls=calls:6}  {kind=kind:-9}  {name=name:-40} "
             "{first used in=scope:-24} {symbol=symbol}",
             rows);
  printImages(*meta.find(kKernels));
}

static void printMemory(const Json &meta) { printEscaped(memoryText(meta)); }

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

namespace {
struct View {
  const char *flag;
  std::vector<const char *> fields; // of the metadata, for --json
  void (*print)(const Json &);
};
} // namespace

static const View kViews[] = {
    {"memory", {"memory"}, printMemory},
    {"schedule", {"schedule", kOverlap}, printSchedule},
    {"params",
     {"config_fields", "update_groups", "parameters"},
     printParameters},
    {kKernels, {"schedule", kKernels}, printKernels},
    {kSharding,
     {kSharding},
     [](const Json &meta) { printSharding(*meta.find(kSharding)); }},
};

static void printHeader(const Json &meta) {
  std::printf("%s (%s), target %s, batch %s", textOf(meta.find("name")).c_str(),
              textOf(meta.find("family")).c_str(),
              textOf(meta.find("target")).c_str(),
              textOf(meta.find("batch")).c_str());
  if (meta.find("seq"))
    std::printf(", seq %s", textOf(meta.find("seq")).c_str());
  std::printf(", weft %s\n", textOf(meta.find("weft")).c_str());
}

static FlagTable inspectFlags() {
  return FlagTable({
      {"memory", FlagKind::Switch, DriverFlag, "", "",
       "sizes of states, activations, workspaces and the largest buffers"},
      {"schedule", FlagKind::Switch, DriverFlag, "", "",
       "commands in order, with estimated times; overlap of collectives"},
      {"params", FlagKind::Switch, DriverFlag, "", "",
       "configuration, update groups and parameters"},
      {kKernels, FlagKind::Switch, DriverFlag, "", "",
       "generated kernels and library routines; for devices, resources of the "
       "machine code"},
      {kSharding, FlagKind::Switch, DriverFlag, "", "",
       "shards of each rank: buckets, parameters and bytes"},
      {"profile", FlagKind::String, DriverFlag, "", "TRACE",
       "measured times per kernel and scope, from a trace of the program's "
       "--trace"},
      {"json", FlagKind::Switch, DriverFlag, "", "", "as JSON"},
      helpFlag(DriverFlag),
  });
}

static void printJson(const Json &meta, const FlagValues &flags, bool all,
                      const std::optional<Json> &profile) {
  Json result = Json::object();
  for (const View &view : kViews)
    for (const char *field : view.fields)
      if (const Json *value = meta.find(field);
          value && flags.getSwitch(view.flag))
        result.set(field, *value);
  if (profile)
    result.set("profile", *profile);
  printText((all ? meta : result).pretty());
}

static void printText(const Json &meta, const FlagValues &flags, bool all,
                      const std::optional<Json> &profile) {
  printHeader(meta);
  for (const View &view : kViews)
    if (flags.getSwitch(view.flag))
      view.print(meta);
  if (profile)
    printProfile(*profile);
  if (all)
    printMemory(meta);
}

/// The metadata, with the additional fields that the flags request.
static Expected<Json> readMeta(const ProgramFile &file, const std::string &path,
                               const FlagValues &flags) {
  Expected<Json> meta = parseJson(file.metadata, path);
  if (!meta || !(flags.getSwitch(kKernels) || flags.getSwitch(kSharding)))
    return meta;
  if (!meta->isObject())
    return inputError("expects an object in the section .weft.meta").at(path);
  auto add = [&](const char *field, Expected<Json> value) -> Status {
    if (!value)
      return Error(value.takeError()).at(path);
    meta->set(field, std::move(*value));
    return Status::success();
  };
  Status status = Status::success();
  if (flags.getSwitch(kKernels))
    status = add(kKernels, describeImages(file, *meta));
  if (status && flags.getSwitch(kSharding))
    status = add(kSharding, expandSharding(*meta));
  if (!status)
    return status.takeError();
  return meta;
}

static Expected<ExitCode> inspectProgram(const std::string &path,
                                         const FlagValues &flags) {
  Expected<ProgramFile> file = readProgramFile(path);
  if (!file)
    return file.takeError();
  Expected<Json> meta = readMeta(*file, path, flags);
  if (!meta)
    return meta.takeError();
  bool all = true;
  for (const View &view : kViews)
    all &= !flags.getSwitch(view.flag);
  std::optional<Json> profile;
  if (flags.isSet("profile")) {
    auto made =
        makeProfile(*meta, digest128(file->metadata), flags.getText("profile"));
    if (!made)
      return made.takeError();
    profile = std::move(*made);
    all = false;
  }
  if (flags.getSwitch("json"))
    printJson(*meta, flags, all, profile);
  else
    printText(*meta, flags, all, profile);
  return ExitCode::Ok;
}

Expected<ExitCode> weft::inspectCommand(const Arguments &args) {
  if (asksAboutModel(args))
    return inspectModel(args);
  FlagTable table = inspectFlags();
  FlagParseOptions options;
  options.program = "weft inspect";
  options.maxPositionals = 1;
  Expected<FlagValues> flags = table.parse(args, options);
  if (!flags)
    return flags.takeError();
  if (flags->getSwitch("help")) {
    printCommandHelp({{"weft inspect PROGRAM [flags]",
                       "weft inspect MODEL --activations|--tradeoff [--json] "
                       "[COMPILE FLAGS]"},
                      {}},
                     {table, modelViewFlags()});
    return ExitCode::Ok;
  }
  if (flags->positionals().empty())
    return usageError("expects a PROGRAM").hint("weft inspect --help");
  return inspectProgram(flags->positionals().front(), *flags);
}
