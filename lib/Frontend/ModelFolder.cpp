//===- ModelFolder.cpp - Folders without a model --------------------------===//

#include "RefusedModels.h"

#include "weft/Frontend/Frontend.h"

#include "weft/Formats/FileKind.h"
#include "weft/Formats/StepDirectories.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <filesystem>

using namespace mlir;
using namespace weft;
namespace fs = std::filesystem;

static constexpr llvm::StringLiteral kConfig = "config.json";

namespace {
/// Searches folders below one for a config.json, at most three levels down: the
/// cache of the hub has snapshots/HASH. A folder may be the root of a disk, so
/// the search reads few entries.
class ConfigSearch {
public:
  /// "" if there is none, or too many entries.
  std::string find(const std::string &folder) { return find(folder, kLevels); }

private:
  static constexpr int kLevels = 3;
  static constexpr int64_t kMostEntries = 2000;

  std::string find(const std::string &folder, int levels);
  /// Sorted; none if there are too many.
  std::vector<std::string> listFolders(const std::string &folder);

  int64_t entries = 0; // read so far
};
} // namespace

std::vector<std::string> ConfigSearch::listFolders(const std::string &folder) {
  std::vector<std::string> found;
  std::error_code error;
  fs::directory_iterator it(folder, error), end;
  for (; !error && it != end; it.increment(error)) {
    if (++entries > kMostEntries)
      return {};
    std::error_code ignored;
    if (it->is_directory(ignored))
      found.push_back(it->path().filename().string());
  }
  llvm::sort(found);
  return found;
}

std::string ConfigSearch::find(const std::string &folder, int levels) {
  for (const std::string &name : listFolders(folder)) {
    const std::string path = folder + "/" + name;
    if (llvm::sys::fs::exists(path + "/" + kConfig.str()))
      return path;
    std::string below = levels > 1 ? find(path, levels - 1) : std::string();
    if (!below.empty())
      return below;
  }
  return "";
}

/// How to get at a model that the files of a folder hint at.
static std::string hintOfFiles(const std::string &folder,
                               llvm::ArrayRef<std::string> names) {
  if (holdsCheckpoints(folder))
    return "weft ckpt export " + shellWord(folder) +
           " OUT makes a model folder of these checkpoints";
  for (llvm::StringRef name : names)
    if (name.ends_with(".gguf") || name.ends_with(".mlir"))
      return "name the file itself: " + shellWord(folder + "/" + name.str());
  if (llvm::is_contained(names, "adapter_config.json"))
    return "an adapter (LoRA) is no model: merge it into its base model and "
           "save that";
  if (llvm::is_contained(names, "params.json"))
    return "this is the original form of the model: take the folder that "
           "transformers reads";
  if (std::string below = ConfigSearch().find(folder); !below.empty())
    return "name the folder with one: " + shellWord(below);
  for (llvm::StringRef name : names)
    if (name.ends_with(".safetensors") || name.ends_with(".bin"))
      return "config.json has the sizes of these weights: copy it from where "
             "they come";
  return "a model is a folder with config.json, an .mlir file or a .gguf file";
}

std::optional<Error> weft::findFolderError(const std::string &folder) {
  if (!llvm::sys::fs::is_directory(folder) ||
      llvm::sys::fs::exists(folder + "/" + kConfig.str()))
    return std::nullopt;
  Expected<std::vector<std::string>> names = listNames(folder);
  if (!names)
    return inputError("cannot read the folder").at(folder);
  return inputError("expects a folder with config.json, but got " +
                    (names->empty() ? "an empty folder"
                                    : "one with " + listInQuotes(*names)))
      .at(folder)
      .hint(hintOfFiles(folder, *names));
}
