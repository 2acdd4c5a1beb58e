//===- Companions.cpp - Files that an export takes along ------------------===//

#include "Companions.h"

#include "weft/Base/InputFile.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/WeightFiles.h"

#include <algorithm>
#include <sys/stat.h>

namespace weft {

/// Tokenizers have some ten megabytes.
static constexpr int64_t kMostBytes = int64_t(1) << 30;

static std::string textOf(const Json &object, const char *name) {
  const Json *field = object.isObject() ? object.find(name) : nullptr;
  return field && field->isString() ? field->asString() : "";
}

/// The name of a file to copy; "" for what no compiler records, lest a made up
/// checkpoint choose files of its reader.
static std::string nameOf(const std::string &path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  const std::vector<std::string> &names = companionNames();
  return std::find(names.begin(), names.end(), name) == names.end() ? "" : name;
}

std::vector<ExportedFile> readCompanions(const Json &model,
                                         const std::string &out) {
  std::vector<ExportedFile> files;
  const Json *list = model.find("companions");
  if (!list || !list->isArray())
    return files;
  for (const Json &entry : list->asArray()) {
    const std::string path = textOf(entry, "path"), name = nameOf(path);
    if (name.empty())
      continue;
    auto text = readFile(path, kMostBytes);
    if (!text)
      warn(text.error().where(), "the export has no " + name +
                                     "; copy it from the folder of the model");
    else if (digestBytes(*text).xxh3 != textOf(entry, "xxh3"))
      warn(path + ": was changed since the program was compiled",
           "the export has no " + name + "; copy it if it is right");
    else
      files.push_back({out + "/" + name, std::move(*text)});
  }
  return files;
}

Status checkNew(const std::vector<ExportedFile> &files) {
  for (const ExportedFile &file : files) {
    struct stat info;
    if (::stat(file.path.c_str(), &info) != 0)
      continue;
    auto existing = readFile(file.path, kMostBytes);
    if (!existing)
      return existing.takeError().withCode(ExitCode::Storage);
    if (*existing != file.text)
      return usageError("expects a folder without another file of that name, "
                        "but there is one")
          .at(file.path)
          .hint("choose another folder, or --overwrite replaces it");
  }
  return Status::success();
}

} // namespace weft
