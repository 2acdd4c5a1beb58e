//===- FlagsHelp.cpp - Help text and Markdown from the flag table ---------===//

#include "weft/Base/Flags.h"

#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

using namespace weft;

FlagSpec weft::helpFlag(FlagGroup group) {
  FlagSpec spec = {"help", FlagKind::Switch, group, "", "", "show this text"};
  spec.shortName = "h";
  return spec;
}

std::vector<FlagSpec> weft::helpFlags(FlagGroup group) {
  FlagSpec brief = helpFlag(group);
  brief.help = "show the common flags";
  const FlagSpec whole = {"help-all", FlagKind::Switch, group, "",
                          "",         "show all flags"};
  std::vector<FlagSpec> flags;
  appendFlags(flags, std::vector{brief, whole}, FlagTopic::General);
  markCommon(flags, {"help", "help-all"});
  return flags;
}

std::vector<FlagSpec> weft::configFlags(FlagGroup group) {
  FlagSpec file = {"config",
                   FlagKind::String,
                   group,
                   "",
                   "FILE",
                   "read flags from FILE (TOML); the command line "
                   "wins"};
  file.file = FlagFile::Read;
  const FlagSpec print = {"print-config",
                          FlagKind::Switch,
                          group,
                          "",
                          "",
                          "print all flags with the origin of each, as a file "
                          "for --config"};
  std::vector<FlagSpec> flags;
  appendFlags(flags, std::vector{file, print}, FlagTopic::General);
  markCommon(flags, {"config"});
  return flags;
}

std::optional<HelpLayout> weft::askedHelp(const FlagValues &flags) {
  const bool wantsAll = flags.getSwitch("help-all");
  if (!wantsAll && !flags.getSwitch("help"))
    return std::nullopt;
  return HelpLayout{static_cast<size_t>(outputColumns()), !wantsAll};
}

void weft::markCommon(std::vector<FlagSpec> &flags,
                      std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    auto found =
        std::find_if(flags.begin(), flags.end(),
                     [&](const FlagSpec &spec) { return spec.name == name; });
    if (found == flags.end()) {
      std::fprintf(stderr, "weft: error: internal: no flag '--%.*s'\n",
                   static_cast<int>(name.size()), name.data());
      std::exit(static_cast<int>(ExitCode::Internal));
    }
    found->isCommon = true;
  }
}

/// "--lr X", "--target=cpu|cuda", "--nesterov", "-o, --output FILE".
static std::string usageText(const FlagSpec &spec) {
  std::string result =
      *spec.shortName ? "-" + std::string(spec.shortName) + ", " : "";
  result += "--" + std::string(spec.name);
  if (spec.kind == FlagKind::Switch)
    return result;
  if (*spec.valueName)
    return result + " " + spec.valueName;
  return spec.kind == FlagKind::Enum ? result + "=" + spec.choices : result;
}

/// Switches are off unless the table says otherwise.
static bool hasDefault(const FlagSpec &spec) {
  const std::string text = spec.defaultText;
  return spec.kind == FlagKind::Switch ? text == "on" : !text.empty();
}

const std::vector<std::pair<FlagTopic, const char *>> &weft::flagTopics() {
  static const std::vector<std::pair<FlagTopic, const char *>> topics = {
      {FlagTopic::Model, "Model"},
      {FlagTopic::Data, "Data"},
      {FlagTopic::Steps, "Steps"},
      {FlagTopic::Optimizer, "Optimizer"},
      {FlagTopic::Precision, "Precision"},
      {FlagTopic::LossScale, "Loss scale"},
      {FlagTopic::Sharding, "Sharding"},
      {FlagTopic::Ranks, "Ranks and threads"},
      {FlagTopic::Memory, "Memory"},
      {FlagTopic::Speed, "Speed"},
      {FlagTopic::Weights, "Weights and seed"},
      {FlagTopic::Checkpoints, "Checkpoints"},
      {FlagTopic::Evaluation, "Evaluation"},
      {FlagTopic::Samples, "Samples"},
      {FlagTopic::Output, "Output"},
      {FlagTopic::CudaDevices, "CUDA devices"},
      {FlagTopic::Phases, "Phases"},
      {FlagTopic::PlugIns, "Plug-ins"},
      {FlagTopic::Diagnosis, "Diagnosis"},
      {FlagTopic::General, "General"}};
  return topics;
}

static const std::pair<FlagGroup, const char *> groupTitles[] = {
    {DriverFlag, "driver flags"},
    {CompileFlag, "compile flags"},
    {RunFlag, "run flags"}};

/// Where texts begin; long usages get a line of their own.
static size_t textColumn(size_t columns) { return columns < 70 ? 8 : 30; }

std::string weft::helpLine(const std::string &usage, const std::string &text,
                           size_t columns) {
  const size_t begin = textColumn(columns);
  std::string line = "  " + usage;
  line += line.size() < begin ? std::string(begin - line.size(), ' ')
                              : "\n" + std::string(begin, ' ');
  return line + wrapText(text, begin, columns) + "\n";
}

static std::string helpOf(const FlagSpec &spec, size_t columns) {
  std::string text = spec.help;
  if (hasDefault(spec))
    text += " [" + std::string(spec.defaultText) + "]";
  return helpLine(usageText(spec), text, columns);
}

std::string FlagTable::help(unsigned groups, const HelpLayout &layout) const {
  std::string result;
  auto addList = [&](const std::string &title, auto isListed) {
    std::string lines;
    for (const FlagSpec &spec : specs)
      if (isListed(spec) && (spec.isCommon || !layout.isShort))
        lines += helpOf(spec, layout.columns);
    if (!lines.empty())
      result += (result.empty() ? "" : "\n") + title + ":\n" + lines;
  };
  for (auto [topic, title] : flagTopics())
    addList(title, [&, topic = topic](const FlagSpec &spec) {
      return spec.topic == topic && (spec.group & groups);
    });
  for (auto [group, title] : groupTitles)
    addList(title, [&, group = group](const FlagSpec &spec) {
      return spec.topic == FlagTopic::None && spec.group == group &&
             (group & groups);
    });
  return result;
}

/// '|' would end a cell.
static std::string cell(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '|' ? "\\|" : std::string(1, c);
  return result;
}

static std::string row(const FlagSpec &spec) {
  const std::string standard =
      hasDefault(spec) ? "`" + cell(spec.defaultText) + "`" : "";
  return "| `" + cell(usageText(spec)) + "` | " + standard + " | " +
         cell(spec.help) + " |\n";
}

std::string FlagTable::markdown(unsigned groups) const {
  std::string result;
  auto rowsOf = [&](FlagGroup group, FlagTopic topic) {
    std::string rows;
    for (const FlagSpec &spec : specs)
      if (spec.group == group && spec.topic == topic)
        rows += row(spec);
    return rows.empty()
               ? rows
               : "\n| flag | default | meaning |\n|---|---|---|\n" + rows;
  };
  for (auto [group, title] : groupTitles) {
    if (!(group & groups))
      continue;
    std::string text = rowsOf(group, FlagTopic::None);
    for (auto [topic, heading] : flagTopics())
      if (std::string rows = rowsOf(group, topic); !rows.empty())
        text += "\n#### " + std::string(heading) + "\n" + rows;
    if (!text.empty())
      result += (result.empty() ? "### " : "\n### ") + std::string(title) +
                "\n" + text;
  }
  return result;
}

static bool isKebab(const std::string &name) {
  return !name.empty() && name.front() != '-' && name.back() != '-' &&
         name.find("--") == name.npos &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
             name.npos;
}

Status FlagTable::checkTable() const {
  std::set<std::string> names, shortNames;
  for (const FlagSpec &spec : specs) {
    Error error(ExitCode::Internal,
                "flag table: '--" + std::string(spec.name) + "' ");
    auto fail = [&](const char *what) {
      return Error(ExitCode::Internal, error.message() + what);
    };
    if (!isKebab(spec.name))
      return fail("is not in kebab-case");
    if (!names.insert(spec.name).second)
      return fail("appears twice");
    if (*spec.shortName && !shortNames.insert(spec.shortName).second)
      return fail("has the short name of another flag");
    if ((spec.kind == FlagKind::Enum) != (*spec.choices != 0))
      return fail("has choices and is no enum, or the reverse");
    if (*spec.defaultText && !checkFlagValue(spec, spec.defaultText))
      return fail("has a default that it would refuse");
    if (spec.topic == FlagTopic::None && find("help-all"))
      return fail("has no topic, as others in the table have");
    std::string help = spec.help;
    if (help.empty() || help.back() == '.' ||
        help.find('\n') != std::string::npos)
      return fail("needs one line of help without a period at the end");
  }
  return Status::success();
}
