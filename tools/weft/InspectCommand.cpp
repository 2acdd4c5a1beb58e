//===- InspectCommand.cpp - weft inspect ----------------------------------===//

#include "CommandHelp.h"
#include "InspectViews.h"
#include "Roofline.h"
#include "ToolCommands.h"
#include "ViewTable.h"

#include "weft/Base/Flags.h"
#include "weft/Base/Results.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/Json.h"
#include "weft/Frontend/Frontend.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <optional>

using namespace weft;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

std::string weft::viewText(const Json *value) {
  if (!value)
    return "";
  // Names may come from a file of somebody else.
  return value->isString() ? escaped(value->asString(), "\n")
                           : value->compact();
}

bool weft::isSet(const Json &json, const char *field) {
  const Json *flag = json.find(field);
  return flag && flag->isBool() && flag->asBool();
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
    if (const std::string by = viewText(row.find("hidden_by")); !by.empty())
      row.set("reason", viewText(row.find("reason")) + "; overlaps with " + by);
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
/// Name of the field that the command adds for its bounds.
static const char kRoofline[] = "roofline";
/// Name of the metadata field that expandSharding replaces.
static const char kSharding[] = "sharding";

static void printKernels(const Json &meta) {
  std::map<std::pair<std::string, std::string>, Json> uses; // name, symbol
  forEachCommand(meta, [&](const std::string &, const Json &command) {
    Json &use = uses[{viewText(command.find("name")),
                      viewText(command.find("symbol"))}];
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
    {kRoofline,
     {kRoofline},
     [](const Json &meta) { printRoofline(*meta.find(kRoofline)); }},
};

static void printHeader(const Json &meta) {
  std::printf("%s (%s), target %s, batch %s",
              viewText(meta.find("name")).c_str(),
              viewText(meta.find("family")).c_str(),
              viewText(meta.find("target")).c_str(),
              viewText(meta.find("batch")).c_str());
  if (meta.find("seq"))
    std::printf(", seq %s", viewText(meta.find("seq")).c_str());
  std::printf(", weft %s\n", viewText(meta.find("weft")).c_str());
  // Own kernels may compute them, so this depends on the machine of the run.
  if (const Json *count = meta.find("nondeterministic_commands"))
    std::printf("with cuDNN, %s gradients of attention differ from run to run "
                "(--deterministic=off)\n",
                viewText(count).c_str());
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
      {kRoofline, FlagKind::Switch, DriverFlag, "", "",
       "lower bounds of the time of each command of a step: arithmetic, "
       "memory, instructions; with --profile, beside measured times"},
      {"device", FlagKind::String, DriverFlag, "h200", "NAME|FILE",
       "with --roofline: h200, or a cost table (FILE.toml)"},
      {"instructions", FlagKind::String, DriverFlag, "", "FILE",
       "with --roofline: JSON, instructions of warps in a call of each kernel "
       "by its symbol"},
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
  if (flags.getSwitch(kRoofline)) {
    Expected<Json> roofline = inspectRoofline(*meta, flags, profile);
    if (!roofline)
      return roofline.takeError();
    meta->set(kRoofline, std::move(*roofline));
  }
  if (flags.getSwitch("json"))
    printJson(*meta, flags, all, profile);
  else
    printText(*meta, flags, all, profile);
  return ExitCode::Ok;
}

/// Whether a view of a program is asked for.
static bool hasView(const FlagValues &flags) {
  return flags.isSet("profile") ||
         std::any_of(std::begin(kViews), std::end(kViews),
                     [&](const View &view) { return flags.isSet(view.flag); });
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
    printCommandHelp(
        {{"weft inspect PROGRAM [flags]", "weft inspect MODEL [--json]",
          "weft inspect MODEL --activations|--tradeoff [--json] "
          "[COMPILE FLAGS]"},
         {}},
        {table, modelViewFlags()});
    return ExitCode::Ok;
  }
  if (flags->positionals().empty())
    return usageError("expects a PROGRAM or a MODEL")
        .hint("weft inspect --help");
  const std::string &path = flags->positionals().front();
  if (!hasView(*flags) && isModel(path))
    return inspectSummary(path, flags->getSwitch("json"));
  // A folder can only be a model.
  if (!hasView(*flags))
    if (std::optional<Error> noModel = findFolderError(path))
      return std::move(*noModel);
  for (const char *flag : {"device", "instructions"})
    if (flags->isSet(flag) && !flags->getSwitch(kRoofline))
      return usageError("--", flag, " expects --roofline, but got none");
  return inspectProgram(path, *flags);
}
