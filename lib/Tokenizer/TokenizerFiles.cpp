//===- TokenizerFiles.cpp - Tokenizers in files and folders ---------------===//

#include "Parts.h"

#include "weft/Base/InputFile.h"
#include "weft/Base/Results.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/GgufVocabulary.h"
#include "weft/Formats/Json.h"

#include <filesystem>

namespace weft {

static constexpr const char *kConfig = "tokenizer_config.json";

static bool isThere(const std::filesystem::path &path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

/// The id of a token that the file of a folder names: "</s>", or an object
/// with the field content.
static Status readRole(const JsonCursor &root, const char *name,
                       const Vocabulary &vocabulary,
                       std::optional<int32_t> &role) {
  std::optional<JsonCursor> field = root.find(name);
  if (!field || field->value().isNull())
    return Status::success();
  Expected<std::string> text = field->value().isObject()
                                   ? field->getString("content")
                                   : field->asString();
  if (!text)
    return text.takeError();
  const int32_t id = vocabulary.find(*text);
  if (id == Vocabulary::kNone)
    return field->error("expects a token of the vocabulary, but got " +
                        inQuotes(*text));
  role = id;
  return Status::success();
}

static Expected<bool> readSwitch(const JsonCursor &root, const char *name) {
  std::optional<JsonCursor> field = root.find(name);
  return field && !field->value().isNull() ? field->asBool()
                                           : Expected<bool>(false);
}

/// Roles of special tokens. SentencePiece's file does not say whether a model
/// wants its texts to begin and end with tokens: this one does.
static Status readConfig(const std::string &path, Tokenizer::Parts &parts) {
  Expected<Json> json = readJsonFile(path);
  if (!json)
    return json.takeError();
  JsonCursor root(*json, path);
  SpecialIds &roles = parts.specialIds;
  const std::pair<const char *, std::optional<int32_t> *> fields[] = {
      {"bos_token", &roles.beginning},
      {"eos_token", &roles.end},
      {"unk_token", &roles.unknown},
      {"pad_token", &roles.padding}};
  for (const auto &[name, role] : fields)
    if (Status s = readRole(root, name, *parts.vocabulary, *role); !s)
      return s;
  if (!parts.whole)
    return Status::success();
  Expected<bool> begins = readSwitch(root, "add_bos_token");
  if (!begins)
    return begins.takeError();
  Expected<bool> ends = readSwitch(root, "add_eos_token");
  if (!ends)
    return ends.takeError();
  if (*begins && roles.beginning)
    parts.frame.before = {*roles.beginning};
  if (*ends && roles.end)
    parts.frame.behind = {*roles.end};
  return Status::success();
}

static Expected<Tokenizer> loadGguf(const std::string &path) {
  Expected<GgufFile> file = GgufFile::open(path);
  if (!file)
    return file.takeError();
  Expected<std::optional<GgufVocabulary>> vocabulary = readVocabulary(*file);
  if (!vocabulary)
    return vocabulary.takeError();
  if (!*vocabulary)
    return inputError("expects a GGUF file with a tokenizer, but got one "
                      "without the key ",
                      kGgufTokens)
        .at(path);
  return Tokenizer::fromGguf(**vocabulary, path);
}

static Expected<Tokenizer> loadFile(const std::string &path) {
  if (guessFileKind(path).isGguf)
    return loadGguf(path);
  Expected<std::string> text = readFile(path);
  if (!text)
    return text.takeError();
  const size_t first = text->find_first_not_of(" \t\r\n");
  if (first != text->npos && (*text)[first] == '{')
    return Tokenizer::parseJson(*text, path);
  if (endsWith(path, ".json"))
    return inputError("expects a JSON object, but got other text").at(path);
  return Tokenizer::parseSentencePiece(*text, path);
}

Expected<Tokenizer> Tokenizer::load(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored))
    return loadFile(path);
  const std::filesystem::path folder(path);
  for (const char *name : {"tokenizer.json", "tokenizer.model"}) {
    if (!isThere(folder / name))
      continue;
    Expected<Tokenizer> made = loadFile((folder / name).string());
    if (!made)
      return made;
    if (isThere(folder / kConfig))
      if (Status s = readConfig((folder / kConfig).string(), *made->parts); !s)
        return s.takeError();
    return made;
  }
  return inputError("expects tokenizer.json or tokenizer.model in the folder, "
                    "but got neither")
      .at(path)
      .hint("download tokenizer.json next to the model's config.json");
}

} // namespace weft
