//===- MergesTokenizer.cpp - The files vocab.json and merges.txt ----------===//
//
// Folders from before tokenizer.json have the tokens and the merges of a
// byte-level BPE model, but not its splits: these belong to the class of the
// tokenizer, which tokenizer_config.json or config.json names. Special tokens
// stand in up to three more files.
//
// Source: GPT2Tokenizer and Qwen2Tokenizer of transformers 5.
//
//===----------------------------------------------------------------------===//

#include "BpeModel.h"
#include "JsonSections.h"
#include "TokenizerFiles.h"

#include "weft/Base/InputFile.h"
#include "weft/Base/Results.h"
#include "weft/Formats/JsonFields.h"

#include <algorithm>
#include <charconv>

namespace weft {

namespace fs = std::filesystem;

static constexpr const char *kVocab = "vocab.json";
static constexpr const char *kMerges = "merges.txt";
static constexpr const char *kAdded = "added_tokens.json";
static constexpr const char *kSpecials = "special_tokens_map.json";
/// The end of a text, and unknown text, where no file names them.
static constexpr const char *kDefaultSpecial = "<|endoftext|>";

//===----------------------------------------------------------------------===//
// The class
//===----------------------------------------------------------------------===//

namespace {

/// A class of tokenizers, by its name and by model types that use it.
struct MergesClass {
  const char *name;
  const char *modelTypes; // with a space on both sides
  bool composes;          // normal form C
  const char *words;      // "" for GPT-2's expression
};

} // namespace

static constexpr MergesClass kClasses[] = {
    {"GPT2Tokenizer", " gpt2 gpt_neo opt ", false, ""},
    {"Qwen2Tokenizer", " qwen2 qwen2_moe qwen3 qwen3_moe ", true, kQwen2Words},
};

static constexpr const char *kSaveHint =
    "transformers writes tokenizer.json: "
    "AutoTokenizer.from_pretrained(DIR).save_pretrained(DIR)";

/// The string in a field of an optional file; "" if there is none.
static Expected<std::string> readName(const fs::path &file, const char *name) {
  if (!isThere(file))
    return std::string();
  Expected<Json> json = readJsonFile(file.string());
  if (!json)
    return json.takeError();
  const JsonCursor root(*json, file.string());
  if (Expected<size_t> size = root.objectSize(); !size)
    return size.takeError();
  std::optional<JsonCursor> field = root.find(name);
  return field && !field->value().isNull() ? field->asString() : std::string();
}

static Expected<const MergesClass *> findClass(const fs::path &folder) {
  const fs::path settings = folder / kTokenizerConfig;
  const fs::path config = folder / "config.json";
  Expected<std::string> name = readName(settings, "tokenizer_class");
  if (!name)
    return name.takeError();
  if (endsWith(*name, "Fast"))
    name->resize(name->size() - 4);
  for (const MergesClass &known : kClasses)
    if (*name == known.name)
      return &known;
  if (!name->empty())
    return inputError("expects GPT2Tokenizer or Qwen2Tokenizer as "
                      "tokenizer_class of a folder with ",
                      kMerges, ", but got ", inQuotes(*name))
        .at(settings.string())
        .hint(kSaveHint);
  Expected<std::string> type = readName(config, "model_type");
  if (!type)
    return type.takeError();
  for (const MergesClass &known : kClasses)
    if (!type->empty() &&
        std::string_view(known.modelTypes).find(" " + *type + " ") !=
            std::string_view::npos)
      return &known;
  return inputError("expects tokenizer_class in tokenizer_config.json, or a "
                    "known model_type in config.json, for ",
                    kMerges, ", but got ",
                    type->empty() ? "neither" : inQuotes(*type))
      .at((folder / kMerges).string())
      .hint(kSaveHint);
}

//===----------------------------------------------------------------------===//
// Tokens and merges
//===----------------------------------------------------------------------===//

static Status readTokens(const fs::path &file, Vocabulary &vocabulary) {
  Expected<Json> json = readJsonFile(file.string());
  if (!json)
    return json.takeError();
  return readTokenIds(JsonCursor(*json, file.string()), vocabulary);
}

static Error wrongMerge(const std::string &file, int line, std::string text) {
  return inputError(std::move(text)).at(file, line);
}

/// A line "left right" of `merges.txt`; the first line may be "#version: 0.2".
static Status readMergeLine(const std::string &file, int line,
                            std::string_view text, uint32_t &rank,
                            const Vocabulary &vocabulary, MergeTable &merges) {
  if (!text.empty() && text.back() == '\r')
    text.remove_suffix(1);
  if (text.empty() || (line == 1 && text.rfind("#version", 0) == 0))
    return Status::success();
  const size_t space = text.find(' ');
  if (space == text.npos || text.find(' ', space + 1) != text.npos)
    return wrongMerge(file, line,
                      "expects two tokens with a space between them, but got " +
                          inQuotes(text));
  const std::string left(text.substr(0, space)), right(text.substr(space + 1));
  for (const std::string &token : {left, right, left + right})
    if (vocabulary.find(token) == Vocabulary::kNone)
      return wrongMerge(file, line,
                        concat("expects a merge of tokens of ", kVocab,
                               " to another one, but got no token ",
                               inQuotes(token)));
  merges.add(vocabulary.find(left), vocabulary.find(right), rank++,
             vocabulary.find(left + right));
  return Status::success();
}

static Expected<MergeTable> readMergeLines(const std::string &file,
                                           const Vocabulary &vocabulary) {
  Expected<std::string> text = readFile(file);
  if (!text)
    return text.takeError();
  MergeTable merges;
  merges.reserve(size_t(std::count(text->begin(), text->end(), '\n')) + 1);
  std::string_view rest = *text;
  uint32_t rank = 0;
  for (int line = 1; !rest.empty(); ++line) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (Status s = readMergeLine(file, line, rest.substr(0, end), rank,
                                 vocabulary, merges);
        !s)
      return s.takeError();
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return merges;
}

//===----------------------------------------------------------------------===//
// Added tokens
//===----------------------------------------------------------------------===//

namespace {

/// The added tokens of a folder, in the order of its files.
class AddedTokenReader {
public:
  explicit AddedTokenReader(Vocabulary &vocabulary) : vocabulary(vocabulary) {}

  /// `added_tokens_decoder` of tokenizer_config.json; false without it.
  Expected<bool> readDecoder(const fs::path &file);
  Status readAdded(const fs::path &file);
  /// Roles and additional_special_tokens of a file.
  Status readSpecials(const fs::path &file);
  /// A special token by its text, behind the others if it is new.
  Status addSpecial(const JsonCursor *at, const std::string &content,
                    const AddedToken &flags = {});

  std::vector<AddedToken> tokens;

private:
  Status add(const JsonCursor &at, AddedToken token);
  Status readSpecial(const JsonCursor &at);

  Vocabulary &vocabulary;
};

} // namespace

Status AddedTokenReader::add(const JsonCursor &at, AddedToken token) {
  if (Status s = addToVocabulary(at, token, vocabulary); !s)
    return s;
  tokens.push_back(std::move(token));
  return Status::success();
}

Expected<bool> AddedTokenReader::readDecoder(const fs::path &file) {
  if (!isThere(file))
    return false;
  Expected<Json> json = readJsonFile(file.string());
  if (!json)
    return json.takeError();
  const JsonCursor root(*json, file.string());
  std::optional<JsonCursor> all = root.find("added_tokens_decoder");
  if (!all)
    return false;
  Status read = forMembers(
      *all, [&](const std::string &name, const JsonCursor &at) -> Status {
        AddedToken token;
        int64_t id = -1;
        const auto end =
            std::from_chars(name.data(), name.data() + name.size(), id);
        if (end.ec != std::errc() || end.ptr != name.data() + name.size() ||
            id < 0 || id >= Vocabulary::kMostTokens)
          return at.error(
              "expects the number of a token as the name, but got " +
              inQuotes(name));
        token.id = int32_t(id);
        if (Status s = readTokenFields(at, token); !s)
          return s;
        return add(at, std::move(token));
      });
  if (!read)
    return read.takeError();
  return true;
}

Status AddedTokenReader::readAdded(const fs::path &file) {
  if (!isThere(file))
    return Status::success();
  Expected<Json> json = readJsonFile(file.string());
  if (!json)
    return json.takeError();
  return forMembers(
      JsonCursor(*json, file.string()),
      [&](const std::string &name, const JsonCursor &at) -> Status {
        AddedToken token;
        token.content = name;
        token.isNormalized = true; // unless it is special
        Expected<int64_t> id = at.asInt(0, Vocabulary::kMostTokens - 1);
        if (!id)
          return id.takeError();
        token.id = int32_t(*id);
        if (name.empty())
          return at.error("expects the text of a token, but got none");
        return add(at, std::move(token));
      });
}

Status AddedTokenReader::addSpecial(const JsonCursor *at,
                                    const std::string &content,
                                    const AddedToken &flags) {
  for (AddedToken &token : tokens)
    if (token.content == content) {
      token.isNormalized &= token.isSpecial;
      token.isSpecial = true;
      return Status::success();
    }
  AddedToken token = flags;
  token.content = content;
  token.isSpecial = true;
  const int32_t known = vocabulary.find(content);
  token.id = known != Vocabulary::kNone ? known : int32_t(vocabulary.size());
  if (known == Vocabulary::kNone)
    if (Status s = vocabulary.add(content, token.id); !s)
      return at ? Status(at->error(s.error().message())) : std::move(s);
  tokens.push_back(std::move(token));
  return Status::success();
}

/// "</s>", or an object with the field content.
Status AddedTokenReader::readSpecial(const JsonCursor &at) {
  Expected<std::string> content = readTokenText(at);
  if (!content)
    return content.takeError();
  if (content->empty())
    return at.error("expects the text of a token, but got none");
  AddedToken flags;
  for (const auto &[name, value] :
       {std::pair<const char *, bool *>{"lstrip", &flags.stripsLeft},
        {"rstrip", &flags.stripsRight},
        {"single_word", &flags.isSingleWord},
        {"normalized", &flags.isNormalized}})
    if (at.value().isObject() && at.find(name))
      if (Status s = assign(at.getBool(name), *value); !s)
        return s;
  return addSpecial(&at, *content, flags);
}

Status AddedTokenReader::readSpecials(const fs::path &file) {
  if (!isThere(file))
    return Status::success();
  Expected<Json> json = readJsonFile(file.string());
  if (!json)
    return json.takeError();
  const JsonCursor root(*json, file.string());
  for (const char *name : {"bos_token", "eos_token", "unk_token", "pad_token"})
    if (auto at = root.find(name); at && !at->value().isNull())
      if (Status s = readSpecial(*at); !s)
        return s;
  auto more = root.find("additional_special_tokens");
  if (!more || more->value().isNull())
    return Status::success();
  return forElements(*more,
                     [&](const JsonCursor &at) { return readSpecial(at); });
}

static Expected<std::vector<AddedToken>>
readAddedTokens(const fs::path &folder, Vocabulary &vocabulary) {
  AddedTokenReader reader(vocabulary);
  Expected<bool> hasDecoder = reader.readDecoder(folder / kTokenizerConfig);
  if (!hasDecoder)
    return hasDecoder.takeError();
  if (!*hasDecoder)
    if (Status s = reader.readAdded(folder / kAdded); !s)
      return s.takeError();
  for (const char *name : {kSpecials, kTokenizerConfig})
    if (Status s = reader.readSpecials(folder / name); !s)
      return s.takeError();
  if (Status s = reader.addSpecial(nullptr, kDefaultSpecial); !s)
    return s.takeError();
  return std::move(reader.tokens);
}

//===----------------------------------------------------------------------===//
// The tokenizer
//===----------------------------------------------------------------------===//

static Expected<bool> readPrefixSpace(const fs::path &file) {
  if (!isThere(file))
    return false;
  Expected<Json> json = readJsonFile(file.string());
  if (!json)
    return json.takeError();
  return readSwitch(JsonCursor(*json, file.string()), "add_prefix_space");
}

static Status readFolder(const fs::path &folder, Tokenizer::Parts &parts) {
  Expected<const MergesClass *> found = findClass(folder);
  if (!found)
    return found.takeError();
  if ((*found)->composes)
    parts.normalizers.push_back(
        std::make_shared<FormNormalizer>(NormalForm::C));
  Expected<bool> addsSpace = readPrefixSpace(folder / kTokenizerConfig);
  if (!addsSpace)
    return addsSpace.takeError();
  if (Status s =
          addByteLevelSplits((*found)->words, *addsSpace, parts.preTokenizers);
      !s)
    return s;
  Vocabulary &vocabulary = *parts.vocabulary;
  if (Status s = readTokens(folder / kVocab, vocabulary); !s)
    return s;
  Expected<MergeTable> merges =
      readMergeLines((folder / kMerges).string(), vocabulary);
  if (!merges)
    return merges.takeError();
  setByteLevelModel(parts, std::move(*merges), BpeOptions());
  Expected<std::vector<AddedToken>> added = readAddedTokens(folder, vocabulary);
  if (!added)
    return added.takeError();
  if (Status s = vocabulary.checkHoles(); !s)
    return s.takeError().at((folder / kVocab).string());
  return addTokens(parts, *added);
}

Expected<Tokenizer> loadMerges(const fs::path &folder) {
  for (const auto &[name, other] :
       {std::pair{kVocab, kMerges}, std::pair{kMerges, kVocab}})
    if (!isThere(folder / name))
      return inputError("expects ", name, " beside ", other, ", but got none")
          .at(folder.string())
          .hint(concat("download ", name,
                       ", or tokenizer.json in place of "
                       "both, next to the model's config.json"));
  auto parts = std::make_unique<Tokenizer::Parts>();
  parts->modelName = "BPE";
  if (Status s = readFolder(folder, *parts); !s)
    return s.takeError();
  for (const char *name : {kSpecials, kTokenizerConfig})
    if (isThere(folder / name))
      if (Status s = readTokenRoles((folder / name).string(),
                                    /*setsFrame=*/true, *parts);
          !s)
        return s.takeError();
  SpecialIds &roles = parts->specialIds;
  const int32_t end = parts->vocabulary->find(kDefaultSpecial);
  for (std::optional<int32_t> *role : {&roles.end, &roles.unknown})
    if (!*role)
      *role = end;
  return TokenizerBuilder::make(std::move(parts));
}

} // namespace weft
