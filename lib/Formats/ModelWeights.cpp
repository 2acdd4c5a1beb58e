//===- ModelWeights.cpp - Weights in one file or several ------------------===//

#include "weft/Formats/ModelWeights.h"

#include "weft/Formats/FileKind.h"
#include "weft/Formats/GgufWeights.h"
#include "weft/Formats/JsonFields.h"
#include "weft/Formats/StepDirectories.h"
#include "weft/Formats/WeightFiles.h"

#include <set>
#include <sys/stat.h>

namespace weft {

static const char singleName[] = "/model.safetensors";
static const char indexName[] = "/model.safetensors.index.json";

static bool isDirectory(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// A link to no file counts: opening it says so.
static bool exists(const std::string &path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0;
}

bool ModelWeights::existsIn(const std::string &folder) {
  return exists(folder + singleName) || exists(folder + indexName);
}

const ModelWeights::Entry *ModelWeights::find(const std::string &name) const {
  auto found = entries.find(name);
  return found == entries.end() ? nullptr : &found->second;
}

const std::string &ModelWeights::dropWrappers() {
  static const std::string known[] = {"_orig_mod.", "module."};
  // Names are sorted: those between two that begin alike begin so too.
  auto allBegin = [&](const std::string &prefix) {
    return !entries.empty() &&
           entries.begin()->first.compare(0, prefix.size(), prefix) == 0 &&
           entries.rbegin()->first.compare(0, prefix.size(), prefix) == 0;
  };
  for (bool found = true; found;) {
    found = false;
    for (const std::string &wrapper : known)
      if (allBegin(wrapperPrefix + wrapper)) {
        wrapperPrefix += wrapper;
        found = true;
      }
  }
  if (wrapperPrefix.empty())
    return wrapperPrefix;
  std::map<std::string, Entry> plain;
  for (const auto &[name, entry] : entries)
    plain.insert({name.substr(wrapperPrefix.size()), entry});
  entries = std::move(plain);
  return wrapperPrefix;
}

/// By the first bytes, whatever the file's name.
static bool isGguf(const std::string &path) {
  return guessFileKind(path).isGguf;
}

static Error noWeightsIn(const std::string &folder) {
  Error error = inputError("expects model.safetensors or "
                           "model.safetensors.index.json, but the folder has "
                           "neither");
  auto unread = findUnreadWeights(folder);
  if (!unread)
    return unread.takeError();
  if (holdsCheckpoints(folder))
    error.hint("it has the checkpoints of a run: --resume " +
               shellWord(folder) + " continues it, and weft ckpt export " +
               shellWord(folder) + " OUT makes a folder for --init-from");
  else if (!unread->empty())
    error.hint(unreadWeightsHint(unread->front()));
  return error.at(folder);
}

Expected<ModelWeights> ModelWeights::open(const std::string &path) {
  ModelWeights model;
  model.name = path;
  Status status;
  if (!isDirectory(path))
    status = endsWith(path, ".index.json") ? model.openIndex(path)
             : isGguf(path)                ? model.addGguf(path)
                                           : model.addFile(path);
  else if (exists(path + singleName))
    status = model.addFile(path + singleName);
  else if (exists(path + indexName))
    status = model.openIndex(path + indexName);
  else
    return noWeightsIn(path);
  if (!status)
    return status.takeError();
  return model;
}

/// The bytes of another file of the model, with its digests.
Expected<std::unique_ptr<CheckedFile>>
ModelWeights::addBytes(const std::string &filePath) {
  auto source = InputFile::open(filePath);
  if (!source)
    return source.takeError();
  auto bytes = std::make_unique<CheckedFile>(std::move(*source));
  bytes->share(buffer);
  checked.push_back(bytes.get());
  pathList.push_back(filePath);
  return bytes;
}

Status ModelWeights::addEntries(const TensorReader &file,
                                const std::vector<TensorInfo> &infos) {
  for (const TensorInfo &info : infos) {
    auto [slot, isNew] = entries.insert({info.name, Entry{&file, &info}});
    if (!isNew)
      return inputError("tensor " + inQuotes(info.name) + " is also in " +
                        slot->second.file->path())
          .at(file.path());
  }
  return Status::success();
}

Status ModelWeights::addFile(const std::string &filePath) {
  auto bytes = addBytes(filePath);
  if (!bytes)
    return bytes.takeError();
  auto file = SafetensorsFile::open(std::move(*bytes));
  if (!file)
    return file.takeError();
  files.push_back(std::make_unique<SafetensorsFile>(std::move(*file)));
  return addEntries(*files.back(), files.back()->tensors());
}

Status ModelWeights::addGguf(const std::string &filePath) {
  auto bytes = addBytes(filePath);
  if (!bytes)
    return bytes.takeError();
  auto weights = GgufWeights::open(std::move(*bytes));
  if (!weights)
    return weights.takeError();
  gguf = std::move(*weights);
  return addEntries(*gguf, gguf->tensors());
}

ModelWeights::ModelWeights() = default;
ModelWeights::ModelWeights(ModelWeights &&) = default;
ModelWeights::~ModelWeights() = default;

Expected<FileDigest> ModelWeights::digest(size_t i) {
  if (indexDigest && i-- == 0)
    return *indexDigest;
  return checked[i]->digest();
}

Expected<std::vector<std::string>>
ModelWeights::blockDigests(size_t i, int64_t part, int64_t parts) {
  if (indexDigest && i-- == 0)
    return indexDigest->blocks;
  if (Status status = checked[i]->readRest(part, parts); !status)
    return status.takeError();
  return checked[i]->blockDigests();
}

void ModelWeights::readRangesAlone() {
  for (CheckedFile *file : checked)
    file->readRangesAlone();
}

/// The file part of the index: a plain name next to the index, nothing else.
static Expected<std::string> shardName(const JsonCursor &field) {
  auto file = field.asString();
  if (!file)
    return file.takeError();
  constexpr size_t kMostName = 255; // NAME_MAX
  bool plain = !file->empty() && file->size() <= kMostName && *file != "." &&
               *file != ".." && file->find('/') == file->npos &&
               file->find('\0') == file->npos;
  if (!plain)
    return field.error(
        "expects the name of a file in the folder of the index, but got " +
        inQuotes(*file));
  return *file;
}

std::vector<std::string> ModelWeights::filesOf(const std::string &path) {
  std::string file = path;
  if (isDirectory(path))
    file += exists(path + singleName) ? singleName : indexName;
  std::vector<std::string> result = {file};
  if (!endsWith(file, ".index.json"))
    return result;
  auto json = readJsonFile(file);
  const Json *map = json ? json->find("weight_map") : nullptr;
  if (!map || !map->isObject())
    return result;
  std::set<std::string> shards;
  for (const JsonMember &member : map->asObject())
    if (member.value.isString())
      shards.insert(member.value.asString());
  std::string folder = file.substr(0, file.find_last_of('/') + 1);
  for (const std::string &shard : shards)
    result.push_back(folder + shard);
  return result;
}

Status ModelWeights::openIndex(const std::string &indexPath) {
  auto text = readFile(indexPath);
  if (!text)
    return text.takeError();
  indexDigest = digestBytes(*text);
  auto json = parseJson(*text, indexPath);
  if (!json)
    return json.takeError();
  auto map = JsonCursor(*json, indexPath).get("weight_map");
  if (!map)
    return map.takeError();
  pathList.push_back(indexPath);

  size_t slash = indexPath.find_last_of('/');
  std::string folder =
      slash == indexPath.npos ? "" : indexPath.substr(0, slash + 1);
  std::map<std::string, std::string> wanted;
  std::set<std::string> shards;
  auto addShard = [&](const std::string &tensor,
                      const JsonCursor &member) -> Status {
    auto shard = shardName(member);
    if (!shard)
      return shard.takeError();
    wanted[tensor] = folder + *shard;
    shards.insert(folder + *shard);
    return Status::success();
  };
  if (Status status = forMembers(*map, addShard); !status)
    return status;
  for (const std::string &shard : shards)
    if (Status status = addFile(shard); !status)
      return status;
  return checkIndex(indexPath, wanted);
}

Status ModelWeights::checkIndex(
    const std::string &indexPath,
    const std::map<std::string, std::string> &wanted) const {
  for (const auto &[tensor, shard] : wanted) {
    const Entry *entry = find(tensor);
    if (!entry || entry->file->path() != shard)
      return inputError("the index puts tensor " + inQuotes(tensor) + " into " +
                        shard + ", but it is not there")
          .at(indexPath);
  }
  for (const auto &[tensor, entry] : entries)
    if (!wanted.count(tensor))
      return inputError("tensor " + inQuotes(tensor) + " is not in the index " +
                        indexPath)
          .at(entry.file->path());
  return Status::success();
}

} // namespace weft
