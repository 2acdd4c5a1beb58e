//===- CommandHelp.h - Help texts of the commands ---------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_COMMANDHELP_H
#define WEFT_TOOLS_WEFT_COMMANDHELP_H

#include "weft/Base/Flags.h"

#include <string>
#include <utility>
#include <vector>

namespace weft {

/// The help text of a command whose flags have no topics.
struct CommandHelp {
  std::vector<std::string> usages; // "weft ckpt diff A B"
  /// The purpose of the command, and its arguments.
  std::vector<std::string> paragraphs;
  std::vector<std::pair<std::string, std::string>> verbs = {};
};

/// Prints it with all flags of the tables, in lines that fit standard output.
void printCommandHelp(const CommandHelp &help,
                      const std::vector<FlagTable> &tables);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_COMMANDHELP_H
