//===- FolderHints.cpp - Folders that are not what was expected -----------===//

#include "weft/Base/Text.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/StepDirectories.h"

#include <filesystem>

using namespace weft;
namespace fs = std::filesystem;

/// "" if the folder is no other known kind.
static std::string hintOfOtherFolder(const std::string &folder) {
  std::error_code ignored;
  if (fs::exists(fs::path(folder) / "config.json", ignored))
    return "it is the folder of a model: --init-from " + shellWord(folder) +
           " takes its weights";
  auto names = listNames(folder);
  if (!names)
    return "";
  for (const std::string &name : *names)
    if (const std::string below = (fs::path(folder) / name).string();
        holdsCheckpoints(below))
      return "did you mean " + shellWord(below) + "?";
  return "";
}

Error weft::noStepIn(const std::string &folder) {
  Error error =
      checkpointError("expects a checkpoint, but found none").at(folder);
  if (const std::string hint = hintOfOtherFolder(folder); !hint.empty())
    error.hint(hint);
  return error;
}
