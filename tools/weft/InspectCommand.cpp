//===- InspectCommand.cpp - weft inspect ----------------------------------===//

#include "InspectViews.h"
#include "ToolCommands.h"

#include "weft/Base/Flags.h"
#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/Json.h"

#include <cstdio>
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

static void printParameters(const Json &meta) {
  if (const Json *fields = meta.find("config_fields");
      fields && fields->isArray() && !fields->asArray().empty()) {
    std::printf("configuration (* = default, not in config.json)\n");
    for (const Json &field : fields->asArray()) {
      const Json *isDefault = field.find("default");
      std::printf("  %s %-28s %s\n",
                  isDefault && isDefault->isBool() && isDefault->asBool() ? "*"
                                                                          : " ",
                  textOf(field.find("field")).c_str(),
                  textOf(field.find("value")).c_str());
    }
  }
  int64_t total = 0, trainable = 0;
  std::printf("parameters\n");
  const Json *parameters = meta.find("parameters");
  if (!parameters || !parameters->isArray())
    return;
  for (const Json &parameter : parameters->asArray()) {
    const Json *flag = parameter.find("trainable");
    bool trains = flag && flag->isBool() && flag->asBool();
    int64_t count = elementsOf(parameter);
    total += count;
    trainable += trains ? count : 0;
    std::printf(
        "  %-48s %-5s %12lld %s%s\n", textOf(parameter.find("name")).c_str(),
        textOf(parameter.find("dtype")).c_str(), static_cast<long long>(count),
        textOf(parameter.find("shape")).c_str(), trains ? "" : " frozen");
  }
  std::printf("  total %lld, trainable %lld\n", static_cast<long long>(total),
              static_cast<long long>(trainable));
}

/// Calls `visit(program, command)` for each command of the schedule.
template <typename Visit>
static void forEachCommand(const Json &meta, Visit visit) {
  const Json *schedule = meta.find("schedule");
  if (!schedule || !schedule->isObject())
    return;
  for (const JsonMember &program : schedule->asObject())
    if (program.value.isArray())
      for (const Json &command : program.value.asArray())
        if (command.isArray() && command.asArray().size() >= 5)
          visit(program.name, command.asArray());
}

/// The field of the metadata.
static const char kOverlap[] = "overlap";

/// Where a row of the schedule has the bytes of the arena that are in use.
static constexpr size_t kBytesInUse = 10;

static void printSchedule(const Json &meta) {
  if (const Json *overlap = meta.find(kOverlap))
    printOverlap(*overlap);
  std::string last;
  size_t index = 0;
  forEachCommand(meta, [&](const std::string &program, const Json::Array &row) {
    if (program != last) {
      std::printf("%s\n", program.c_str());
      last = program;
      index = 0;
    }
    const bool hasBytes = row.size() > kBytesInUse && row[kBytesInUse].isInt();
    std::printf("  %5zu %10.1f us %12s  %-40s %-24s %s\n", index++,
                row[2].isNumber() ? row[2].asDouble() : 0.0,
                hasBytes ? humanBytes(row[kBytesInUse].asInt()).c_str() : "",
                textOf(&row[4]).c_str(), textOf(&row[1]).c_str(),
                textOf(&row[0]).c_str());
  });
}

/// Name of the field that the command adds to the metadata for its images.
static const char kKernels[] = "kernels";
/// Name of the metadata field that expandSharding replaces.
static const char kSharding[] = "sharding";

static void printKernels(const Json &meta) {
  struct Use {
    int64_t calls = 0;
    bool generated = false;
    std::string scope;
  };
  std::map<std::pair<std::string, std::string>, Use> uses; // name, symbol
  forEachCommand(meta, [&](const std::string &, const Json::Array &row) {
    Use &use = uses[{textOf(&row[4]), textOf(&row[0])}];
    if (use.calls++ == 0)
      use.scope = textOf(&row[1]);
    use.generated = row[3].isBool() && row[3].asBool();
  });
  std::printf("  %6s  %-9s  %-40s %-24s %s\n", "calls", "kind", "name",
              "first used in", "symbol");
  for (const auto &[name, use] : uses)
    std::printf("  %6lld  %-9s  %-40s %-24s %s\n",
                static_cast<long long>(use.calls),
                use.generated ? "generated" : "library", name.first.c_str(),
                use.scope.c_str(), name.second.c_str());
  printImages(*meta.find(kKernels));
}

static void printMemory(const Json &meta) {
  const Json *memory = meta.find("memory");
  const Json *text = memory ? memory->find("text") : nullptr;
  printText(textOf(text));
}

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
    {"params", {"config_fields", "parameters"}, printParameters},
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
      {"memory", FlagKind::Switch, DriverFlag, "", "", "where the bytes go"},
      {"schedule", FlagKind::Switch, DriverFlag, "", "",
       "commands in order, with estimated times; how collectives hide"},
      {"params", FlagKind::Switch, DriverFlag, "", "",
       "configuration and parameters"},
      {kKernels, FlagKind::Switch, DriverFlag, "", "",
       "generated kernels and library routines; of a program for devices, what "
       "their machine code takes"},
      {kSharding, FlagKind::Switch, DriverFlag, "", "",
       "what each rank holds: of buckets, of parameters, in bytes"},
      {"profile", FlagKind::String, DriverFlag, "", "TRACE",
       "measured times per kernel and scope; the program's --trace wrote "
       "TRACE"},
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
    std::printf("usage: weft inspect PROGRAM [flags]\n"
                "       weft inspect MODEL --activations|--tradeoff [--json] "
                "[flags of weft compile]\n\n%s\n%s",
                table.help().c_str(), modelViewsHelp().c_str());
    return ExitCode::Ok;
  }
  if (flags->positionals().empty())
    return usageError("expects a PROGRAM").hint("weft inspect --help");
  return inspectProgram(flags->positionals().front(), *flags);
}
