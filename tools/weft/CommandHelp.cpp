//===- CommandHelp.cpp - Help texts of the commands -----------------------===//

#include "CommandHelp.h"

#include "weft/Base/StandardStreams.h"
#include "weft/Base/Text.h"

using namespace weft;

void weft::printCommandHelp(const CommandHelp &help,
                            const std::vector<FlagTable> &tables) {
  const auto columns = static_cast<size_t>(outputColumns());
  std::string text;
  for (const std::string &usage : help.usages) {
    text += text.empty() ? "usage: " : "       ";
    text += wrapText(usage, 7, columns) + "\n";
  }
  for (const std::string &paragraph : help.paragraphs)
    text += "\n" + wrapText(paragraph, 0, columns) + "\n";
  if (!help.verbs.empty())
    text += "\ncommands:\n";
  for (const auto &[verb, meaning] : help.verbs)
    text += helpLine(verb, meaning, columns);
  for (const FlagTable &table : tables)
    text += "\n" + table.help(AllFlags, {columns});
  printText(text);
}
