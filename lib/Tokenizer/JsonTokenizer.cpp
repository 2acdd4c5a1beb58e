//===- JsonTokenizer.cpp - The file tokenizer.json ------------------------===//

#include "JsonSections.h"

#include "weft/Base/Results.h"
#include "weft/Formats/JsonFields.h"

#include <algorithm>

namespace weft {

/// A section that may be absent or null.
static std::optional<JsonCursor> sectionOf(const JsonCursor &root,
                                           const char *name) {
  std::optional<JsonCursor> found = root.find(name);
  return found && !found->value().isNull() ? found : std::nullopt;
}

static Status checkFields(const JsonCursor &root) {
  static constexpr const char *kKnown[] = {
      "version",        "truncation", "padding",
      "added_tokens",   "normalizer", "pre_tokenizer",
      "post_processor", "decoder",    "model"};
  if (Expected<JsonCursor> model = root.get("model"); !model)
    return model.takeError();
  for (const JsonMember &member : root.value().asObject())
    if (std::none_of(std::begin(kKnown), std::end(kKnown),
                     [&](const char *name) { return member.name == name; }))
      return root.error(concat("does not support the section ",
                               inQuotes(member.name), " of a tokenizer yet"));
  if (auto version = sectionOf(root, "version");
      version && version->value() != Json("1.0"))
    return version->error("expects version \"1.0\", but got " +
                          printable(version->value().compact(), 80));
  for (const char *name : {"truncation", "padding"})
    if (auto section = sectionOf(root, name))
      return section->error(concat("does not support ", name, " of texts yet"))
          .hint(concat("set the field to null: weft cuts texts into rows of "
                       "the sequence length itself"));
  return Status::success();
}

static Status checkModelType(const JsonCursor &root, bool &isPlainBpe) {
  const JsonCursor model = *root.find("model");
  Expected<Section> section = Section::open(model);
  if (!section)
    return section.takeError();
  const std::string &type = section->type();
  if (type != "BPE" && type != "Unigram" && type != "WordPiece" &&
      type != "WordLevel")
    return section->unsupported("model");
  auto isEmpty = [&](const char *name) {
    return !section->has(name) || model.find(name)->value() == Json("");
  };
  isPlainBpe = type == "BPE" && isEmpty("continuing_subword_prefix") &&
               isEmpty("end_of_word_suffix");
  return Status::success();
}

Status readTokenFields(const JsonCursor &at, AddedToken &token) {
  Expected<std::string> content = at.getString("content");
  if (!content)
    return content.takeError();
  token.content = std::move(*content);
  if (token.content.empty())
    return at.error("expects text as content, but got none");
  const std::pair<const char *, bool *> fields[] = {
      {"single_word", &token.isSingleWord},
      {"lstrip", &token.stripsLeft},
      {"rstrip", &token.stripsRight},
      {"normalized", &token.isNormalized},
      {"special", &token.isSpecial}};
  for (const auto &[name, value] : fields)
    if (Status status = assign(at.getBool(name), *value); !status)
      return status;
  for (const JsonMember &member : at.value().asObject())
    if (member.name != "id" && member.name != "content" &&
        std::none_of(std::begin(fields), std::end(fields),
                     [&](const auto &f) { return member.name == f.first; }))
      return at.error(concat("does not support the field ",
                             inQuotes(member.name), " of added tokens yet"));
  return Status::success();
}

/// An entry of `added_tokens`.
static Status readAddedToken(const JsonCursor &at, AddedToken &token) {
  Expected<int64_t> id = at.getInt("id", 0, Vocabulary::kMostTokens - 1);
  if (!id)
    return id.takeError();
  token.id = int32_t(*id);
  return readTokenFields(at, token);
}

Status addToVocabulary(const JsonCursor &at, const AddedToken &token,
                       Vocabulary &vocabulary) {
  const int32_t known = vocabulary.find(token.content);
  if (known == Vocabulary::kNone)
    return addTokenId(at, token.content, token.id, vocabulary);
  if (known != token.id)
    return at.error(concat("expects the number of the vocabulary for ",
                           inQuotes(token.content), ", which is ", known,
                           ", but got ", token.id));
  return Status::success();
}

/// Reads the list and adds its tokens to the vocabulary.
static Status readAddedTokens(const JsonCursor &list, Vocabulary &vocabulary,
                              std::vector<AddedToken> &tokens) {
  return forElements(list, [&](const JsonCursor &at) -> Status {
    AddedToken token;
    if (Status status = readAddedToken(at, token); !status)
      return status;
    if (Status status = addToVocabulary(at, token, vocabulary); !status)
      return status;
    tokens.push_back(std::move(token));
    return Status::success();
  });
}

static Status readSections(const JsonCursor &root, Tokenizer::Parts &parts) {
  bool isByteLevel = false;
  if (Status status = checkFields(root); !status)
    return status;
  if (Status status = checkModelType(root, isByteLevel); !status)
    return status;
  if (auto section = sectionOf(root, "normalizer"))
    if (Status status = readNormalizer(*section, parts.normalizers); !status)
      return status;
  auto splits = sectionOf(root, "pre_tokenizer");
  if (!splits)
    isByteLevel = false;
  else if (Status s = readPreTokenizer(*splits, parts, isByteLevel); !s)
    return s;
  const JsonCursor model = *root.find("model");
  if (Status status = readVocabulary(model, parts); !status)
    return status;
  if (Status status = readModel(model, parts, isByteLevel); !status)
    return status;
  std::vector<AddedToken> added;
  if (auto section = sectionOf(root, "added_tokens"))
    if (Status s = readAddedTokens(*section, *parts.vocabulary, added); !s)
      return s;
  if (Status status = parts.vocabulary->checkHoles(); !status)
    return model.error(status.error().message());
  if (Status status = addTokens(parts, added); !status)
    return status;
  if (auto section = sectionOf(root, "post_processor"))
    if (Status status = readPostProcessor(*section, parts); !status)
      return status;
  if (auto section = sectionOf(root, "decoder"))
    return readDecoder(*section, parts);
  parts.decoders.push_back(std::make_shared<SpacingDecoder>());
  return Status::success();
}

Expected<Tokenizer> Tokenizer::parseJson(std::string_view text,
                                         const std::string &file) {
  Expected<Json> json = weft::parseJson(text, file);
  if (!json)
    return json.takeError();
  auto parts = std::make_unique<Parts>();
  JsonCursor root(*json, file);
  if (Status status = readSections(root, *parts); !status) {
    Error error = status.takeError();
    if (error.file().empty())
      error.at(file);
    return error;
  }
  return Tokenizer(std::move(parts));
}

} // namespace weft
