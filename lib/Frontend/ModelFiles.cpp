//===- ModelFiles.cpp - The files behind a model --------------------------===//

#include "weft/Frontend/Frontend.h"

#include "weft/Formats/Safetensors.h"
#include "weft/Formats/WeightFiles.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

std::vector<std::string> weft::tokenizerFilesIn(StringRef folder) {
  std::vector<std::string> found;
  for (StringRef name :
       {"merges.txt", "tokenizer.json", "tokenizer.model", "vocab.json"}) {
    SmallString<128> path(folder);
    sys::path::append(path, name);
    if (sys::fs::exists(path))
      found.push_back(name.str());
  }
  return found;
}

std::vector<std::string> weft::companionFilesIn(StringRef folder) {
  std::vector<std::string> found;
  for (const std::string &name : companionNames()) {
    SmallString<128> path(folder);
    sys::path::append(path, name);
    // A link to no file counts: loadModel refuses it.
    if (sys::fs::exists(path) || sys::fs::is_symlink_file(path))
      found.push_back(name);
  }
  return found;
}

/// Files that decide whether the model has weights, in a form that weft reads
/// or in another.
static std::vector<std::string> weightFilesIn(const std::string &folder) {
  if (weft::SafetensorsModel::existsIn(folder))
    return weft::SafetensorsModel::filesOf(folder);
  auto unread = weft::findUnreadWeights(folder);
  return unread ? std::move(*unread) : std::vector<std::string>();
}

std::vector<std::string> weft::modelFiles(const std::string &model) {
  SmallString<128> text(model);
  if (sys::fs::is_directory(model))
    sys::path::append(text, "config.json");
  std::vector<std::string> files = {text.str().str()};
  if (sys::path::extension(text) != ".json")
    return files;
  StringRef folder = sys::path::parent_path(text);
  const std::string place = folder.empty() ? "." : folder.str();
  for (std::string &file : weightFilesIn(place))
    files.push_back(std::move(file));
  for (const std::string &name : companionFilesIn(folder)) {
    SmallString<128> path(folder);
    sys::path::append(path, name);
    files.push_back(path.str().str());
  }
  return files;
}
