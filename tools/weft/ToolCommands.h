//===- ToolCommands.h - The commands of the driver --------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_TOOLCOMMANDS_H
#define WEFT_TOOLS_WEFT_TOOLCOMMANDS_H

#include "weft/Base/Flags.h"
#include "weft/Formats/Json.h"

#include <string>
#include <vector>

namespace weft {

using Arguments = std::vector<std::string>;

/// Each command prints its results and returns, or says what went wrong.
Expected<ExitCode> compileCommand(const Arguments &args);
Expected<ExitCode> trainCommand(const Arguments &args);
Expected<ExitCode> generateCommand(const Arguments &args);
Expected<ExitCode> evaluateCommand(const Arguments &args);
Expected<ExitCode> predictCommand(const Arguments &args);
Expected<ExitCode> launchCommand(const Arguments &args);
Expected<ExitCode> inspectCommand(const Arguments &args);
Expected<ExitCode> reportCommand(const Arguments &args);
Expected<ExitCode> benchCommand(const Arguments &args);
Expected<ExitCode> checkCommand(const Arguments &args);
Expected<ExitCode> checkpointCommand(const Arguments &args);
Expected<ExitCode> cacheCommand(const Arguments &args);
Expected<ExitCode> dataCommand(const Arguments &args);
Expected<ExitCode> tokenizeCommand(const Arguments &args);
Expected<ExitCode> helpMarkdownCommand(const Arguments &args);
/// The process of startTextServer(), not for users.
Expected<ExitCode> serveTextCommand(const Arguments &args);

FlagTable benchFlags();
FlagTable dataFlags();
FlagTable tokenizeFlags();

/// The JSON text in the section `.weft.meta` of a compiled program.
Expected<Json> readMetadata(const std::string &path);

/// The flags of a run. Their help names the defaults of optimizers, which an
/// executable knows of its own alone.
std::vector<FlagSpec> describedRunFlags();

/// The flags of `weft compile --dry-run`.
std::vector<FlagSpec> simulateFlags();

/// Compiles a model up to the plan for its mesh and for neighbouring meshes.
/// Prints the estimated step time of each. Writes no file.
Status simulateModel(const FlagValues &flags, const std::string &model);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_TOOLCOMMANDS_H
