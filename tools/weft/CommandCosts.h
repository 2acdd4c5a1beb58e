//===- CommandCosts.h - Arithmetic and traffic of commands ------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_COMMANDCOSTS_H
#define WEFT_TOOLS_WEFT_COMMANDCOSTS_H

#include "weft/Base/Error.h"
#include "weft/Formats/Json.h"

#include <map>
#include <string>
#include <vector>

namespace weft {

/// The cost of one command, from the metadata.
struct CommandCost {
  std::string routine; // its symbol
  std::string scope, name;
  bool isGenerated = false;
  double flops = 0, bytes = 0;
  std::vector<std::string> kinds; // in a cost table, the most general first

  /// A wait for another stream, or what ends one: its time is no work.
  bool isEvent() const { return flops == 0 && bytes == 0; }
};

/// The commands of each program in order. Exit 3 for metadata without them.
Expected<std::map<std::string, std::vector<CommandCost>>>
readCommandCosts(const Json &metadata);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_COMMANDCOSTS_H
