//===- Commands.h - The commands of the driver ------------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_COMMANDS_H
#define WEFT_TOOLS_WEFT_COMMANDS_H

#include "weft/Formats/Error.h"

#include <string>
#include <vector>

namespace weft {

using Arguments = std::vector<std::string>;

/// Each command prints its results and returns, or says what went wrong.
Expected<ExitCode> compileCommand(const Arguments &args);
Expected<ExitCode> trainCommand(const Arguments &args);
Expected<ExitCode> inspectCommand(const Arguments &args);
Expected<ExitCode> checkCommand(const Arguments &args);
Expected<ExitCode> checkpointCommand(const Arguments &args);
Expected<ExitCode> helpMarkdownCommand(const Arguments &args);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_COMMANDS_H
