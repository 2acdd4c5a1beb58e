//===- TokenizerFiles.cpp - Tokenizers in files and folders ---------------===//

#include "TokenizerFiles.h"

#include "weft/Base/InputFile.h"
#include "weft/Base/Results.h"
#include "weft/Formats/FileKind.h"
#include "weft/Formats/GgufVocabulary.h"
#include "weft/Formats/Json.h"

#include <filesystem>

namespace weft {

namespace fs = std::filesystem;

bool isThere(const std::filesystem::path &path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

Expected<std::string> readTokenText(const JsonCursor &at) {
  return at.value().isObject() ? at.getString("content") : at.asString();
}

/// The id of a token that the file of a folder names.
static Status readRole(const JsonCursor &root, const char *name,
                       const Vocabulary &vocabulary,
                       std::optional<int32_t> &role) {
  std::optional<JsonCursor> field = root.find(name);
  if (!field || field->value().isNull())
    return Status::success();
  Expected<std::string> text = readTokenText(*field);
  if (!text)
    return text.takeError();
  const int32_t id = vocabulary.find(*text);
  if (id == Vocabulary::kNone)
    return field->error("expects a token of the vocabulary, but got " +
                        inQuotes(*text));
  role = id;
  return Status::success();
}

Expected<bool> readSwitch(const JsonCursor &root, const char *name) {
  std::optional<JsonCursor> field = root.find(name);
  return field && !field->value().isNull() ? field->asBool()
                                           : Expected<bool>(false);
}

Status readTokenRoles(const std::string &path, bool setsFrame,
                      Tokenizer::Parts &parts) {
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
  if (!setsFrame)
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
  const fs::path name = fs::path(path).filename();
  if (name == "merges.txt" || name == "vocab.json")
    return loadMerges(fs::absolute(path).parent_path());
  const size_t first = text->find_first_not_of(" \t\r\n");
  if (first != text->npos && (*text)[first] == '{')
    return Tokenizer::parseJson(*text, path);
  if (endsWith(path, ".json"))
    return inputError("expects a JSON object, but got other text").at(path);
  Expected<Tokenizer> made = Tokenizer::parseSentencePiece(*text, path);
  if (!made && !endsWith(path, ".model"))
    return inputError("expects a tokenizer, but got a file of another kind: ",
                      made.error().message())
        .at(path)
        .hint("a tokenizer is tokenizer.json, tokenizer.model, vocab.json with "
              "merges.txt, a GGUF file, or the folder of a model");
  return made;
}

Expected<Tokenizer> Tokenizer::load(const std::string &path) {
  std::error_code ignored;
  const fs::path folder(path);
  if (!fs::is_directory(folder, ignored))
    return loadFile(path);
  for (const char *name : {"tokenizer.json", "tokenizer.model"}) {
    if (!isThere(folder / name))
      continue;
    Expected<Tokenizer> made = loadFile((folder / name).string());
    if (!made)
      return made;
    // SentencePiece's file does not say whether a model wants its texts to
    // begin and end with tokens.
    const bool setsFrame = made->parts->whole != nullptr;
    if (const fs::path config = folder / kTokenizerConfig; isThere(config))
      if (Status s = readTokenRoles(config.string(), setsFrame, *made->parts);
          !s)
        return s.takeError();
    return made;
  }
  if (isThere(folder / "merges.txt") || isThere(folder / "vocab.json"))
    return loadMerges(folder);
  return inputError(
             "expects tokenizer.json, tokenizer.model, or vocab.json and "
             "merges.txt in the folder, but got none of these")
      .at(path)
      .hint("download tokenizer.json next to the model's config.json; "
            "--tokenizer=bytes makes a token of each byte");
}

} // namespace weft
