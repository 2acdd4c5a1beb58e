//===- FlagsHelp.cpp - Help text and Markdown from the flag table ---------===//

#include "weft/Base/Flags.h"

#include <algorithm>
#include <set>

namespace weft {

FlagSpec helpFlag(FlagGroup group) {
  FlagSpec spec = {"help", FlagKind::Switch, group, "", "", "show this text"};
  spec.shortName = "h";
  return spec;
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

static const std::pair<FlagGroup, const char *> groupTitles[] = {
    {DriverFlag, "driver flags"},
    {CompileFlag, "compile flags"},
    {RunFlag, "run flags"}};

std::string FlagTable::help(unsigned groups) const {
  // Long usages get a line of their own.
  constexpr size_t widest = 30;
  std::string result;
  for (auto [group, title] : groupTitles) {
    std::string lines;
    for (const FlagSpec &spec : specs) {
      if (spec.group != group || !(groups & group))
        continue;
      std::string usage = "  " + usageText(spec);
      usage += usage.size() < widest ? std::string(widest - usage.size(), ' ')
                                     : "\n" + std::string(widest, ' ');
      lines += usage + spec.help;
      if (hasDefault(spec))
        lines += " [" + std::string(spec.defaultText) + "]";
      lines += "\n";
    }
    if (!lines.empty())
      result +=
          (result.empty() ? "" : "\n") + std::string(title) + ":\n" + lines;
  }
  return result;
}

/// '|' would end a cell.
static std::string cell(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '|' ? "\\|" : std::string(1, c);
  return result;
}

std::string FlagTable::markdown(unsigned groups) const {
  std::string result;
  for (auto [group, title] : groupTitles) {
    std::string rows;
    for (const FlagSpec &spec : specs)
      if (spec.group == group && (groups & group)) {
        std::string standard =
            hasDefault(spec) ? "`" + cell(spec.defaultText) + "`" : "";
        rows += "| `" + cell(usageText(spec)) + "` | " + standard + " | " +
                cell(spec.help) + " |\n";
      }
    if (!rows.empty())
      result += (result.empty() ? "### " : "\n### ") + std::string(title) +
                "\n\n| flag | default | meaning |\n|---|---|---|\n" + rows;
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
      return fail("stands twice");
    if (*spec.shortName && !shortNames.insert(spec.shortName).second)
      return fail("has the short name of another flag");
    if ((spec.kind == FlagKind::Enum) != (*spec.choices != 0))
      return fail("has choices and is no enum, or the reverse");
    if (*spec.defaultText && !checkFlagValue(spec, spec.defaultText))
      return fail("has a default that it would refuse");
    std::string help = spec.help;
    if (help.empty() || help.back() == '.' ||
        help.find('\n') != std::string::npos)
      return fail("needs one line of help without a period at the end");
  }
  return Status::success();
}

} // namespace weft
