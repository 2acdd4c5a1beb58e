//===- FlagNames.cpp - Names of flags and commands ------------------------===//

#include "weft/Base/FlagNames.h"

namespace weft {

const FlagSpec *findFlagName(const std::string &name) {
  static const FlagTable all = [] {
    // Run flags first: --overwrite is a driver flag, too.
    FlagTable table(runFlagSpecs());
    table.add(compileFlags());
    table.add(driverFlags());
    return table;
  }();
  return all.find(name == "o" ? "output" : name);
}

static const ForeignName *findIn(const std::vector<ForeignName> &all,
                                 const std::string &name) {
  for (const ForeignName &entry : all)
    if (name.find('|') == name.npos &&
        ("|" + std::string(entry.names) + "|").find("|" + name + "|") !=
            std::string::npos)
      return &entry;
  return nullptr;
}

const ForeignName *findForeignFlag(const std::string &name) {
  return findIn(foreignFlags(), name);
}

const ForeignName *findForeignCommand(const std::string &name) {
  return findIn(foreignCommands(), name);
}

static std::string withText(std::string answer, const ForeignName &entry) {
  return *entry.text ? std::move(answer) + "; " + entry.text : answer;
}

std::string describeForeign(const ForeignName &flag) {
  return withText(*flag.answer
                      ? "weft's flag is '--" + std::string(flag.answer) + "'"
                      : "weft has none",
                  flag);
}

std::string describeForeignCommand(const ForeignName &command) {
  return withText(*command.answer
                      ? "weft " + std::string(command.answer) + " does that"
                      : "weft has none",
                  command);
}

std::string foreignMarkdown() {
  std::string text = "| flag of another tool | weft |\n|---|---|\n";
  for (const ForeignName &entry : foreignFlags()) {
    std::string names = "`--";
    for (const char *c = entry.names; *c; ++c)
      names += *c == '|' ? "`, `--" : std::string(1, *c);
    std::string answer =
        *entry.answer ? "`--" + std::string(entry.answer) + "`" : "none";
    text += "| " + names + "` | " + withText(answer, entry) + " |\n";
  }
  return text;
}

} // namespace weft
