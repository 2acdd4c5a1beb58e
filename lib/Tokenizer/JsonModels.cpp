//===- JsonModels.cpp - The section model of tokenizer.json ---------------===//

#include "BpeModel.h"
#include "JsonSections.h"
#include "UnigramModel.h"
#include "WordModels.h"

#include "weft/Base/Results.h"
#include "weft/Formats/JsonFields.h"

namespace weft {

Status addTokenId(const JsonCursor &at, std::string_view text, int64_t id,
                  Vocabulary &vocabulary) {
  if (Status status = vocabulary.add(text, id); !status)
    return at.error(status.error().message());
  return Status::success();
}

Status readTokenIds(const JsonCursor &object, Vocabulary &vocabulary) {
  return forMembers(object,
                    [&](const std::string &text, const JsonCursor &value) {
                      Expected<int64_t> id = value.asInt();
                      return id ? addTokenId(value, text, *id, vocabulary)
                                : Status(id.takeError());
                    });
}

Status readVocabulary(const JsonCursor &model, Tokenizer::Parts &parts) {
  Expected<JsonCursor> vocab = model.get("vocab");
  if (!vocab)
    return vocab.takeError();
  Vocabulary &vocabulary = *parts.vocabulary;
  if (vocab->value().isArray()) { // pairs of token and score
    int64_t id = 0;
    return forElements(*vocab, [&](const JsonCursor &pair) -> Status {
      Expected<size_t> size = pair.arraySize();
      if (!size)
        return size.takeError();
      if (*size != 2)
        return pair.error("expects a token and its score, but got " +
                          std::to_string(*size) + " values");
      Expected<std::string> text = pair.element(0).asString();
      if (!text)
        return text.takeError();
      return addTokenId(pair, *text, id++, vocabulary);
    });
  }
  return readTokenIds(*vocab, vocabulary);
}

/// The id of a token that a field names; kNone for an absent field.
static Expected<int32_t> readToken(const Section &section, const char *name,
                                   const Vocabulary &vocabulary) {
  if (!section.has(name))
    return int32_t(Vocabulary::kNone);
  Expected<std::string> text = section.cursor().getString(name);
  if (!text)
    return text.takeError();
  const int32_t id = vocabulary.find(*text);
  if (id == Vocabulary::kNone)
    return section.cursor().error(
        concat("expects a token of the vocabulary as ", name, ", but got ",
               inQuotes(*text)));
  return id;
}

//===----------------------------------------------------------------------===//
// BPE
//===----------------------------------------------------------------------===//

/// A merge as "left right" or as ["left", "right"].
static Status readMerge(const JsonCursor &at, std::string &left,
                        std::string &right) {
  if (at.value().isString()) {
    const std::string &text = at.value().asString();
    const size_t space = text.find(' ');
    if (space == text.npos || text.find(' ', space + 1) != text.npos)
      return at.error("expects two tokens with a space between them, but got " +
                      inQuotes(text));
    left = text.substr(0, space);
    right = text.substr(space + 1);
    return Status::success();
  }
  Expected<size_t> size = at.arraySize();
  if (!size)
    return size.takeError();
  if (*size != 2)
    return at.error("expects two tokens, but got " + std::to_string(*size));
  if (Status status = assign(at.element(0).asString(), left); !status)
    return status;
  return assign(at.element(1).asString(), right);
}

static Status addMerge(const JsonCursor &at, uint32_t rank, size_t prefix,
                       const Vocabulary &vocabulary, MergeTable &merges) {
  std::string left, right;
  if (Status status = readMerge(at, left, right); !status)
    return status;
  const std::string both = left + right.substr(std::min(prefix, right.size()));
  for (const std::string &text : {left, right, both})
    if (vocabulary.find(text) == Vocabulary::kNone)
      return at.error("expects a merge of tokens of the vocabulary to another "
                      "one, but got no token " +
                      inQuotes(text));
  merges.add(vocabulary.find(left), vocabulary.find(right), rank,
             vocabulary.find(both));
  return Status::success();
}

static Expected<MergeTable> readMerges(const Section &section, size_t prefix,
                                       const Vocabulary &vocabulary) {
  Expected<JsonCursor> list = section.cursor().get("merges");
  if (!list)
    return list.takeError();
  Expected<size_t> size = list->arraySize();
  if (!size)
    return size.takeError();
  MergeTable merges;
  merges.reserve(*size);
  for (size_t i = 0; i < *size; ++i) {
    const JsonCursor at = list->element(i);
    if (i == 0 && at.value().isString() &&
        at.value().asString().rfind("#version", 0) == 0)
      continue;
    if (Status s = addMerge(at, uint32_t(i), prefix, vocabulary, merges); !s)
      return s.takeError();
  }
  return merges;
}

static Status checkDropout(const Section &section) {
  if (!section.has("dropout"))
    return Status::success();
  Expected<double> dropout = section.cursor().getDouble("dropout");
  if (!dropout)
    return dropout.takeError();
  if (*dropout != 0)
    return section.cursor().error(
        concat("does not support dropout yet, but got ", numberText(*dropout)));
  return Status::success();
}

static Status readBpe(const Section &section, Tokenizer::Parts &parts,
                      bool isByteLevel) {
  if (Status s =
          section.hasOnly({"dropout", "unk_token", "continuing_subword_prefix",
                           "end_of_word_suffix", "fuse_unk", "byte_fallback",
                           "ignore_merges", "vocab", "merges"});
      !s)
    return s;
  if (Status s = checkDropout(section); !s)
    return s;
  const Vocabulary &vocabulary = *parts.vocabulary;
  BpeOptions options;
  options.isByteLevel = isByteLevel;
  if (Status s =
          assign(readToken(section, "unk_token", vocabulary), options.unknown);
      !s)
    return s;
  if (Status s = assign(section.getString("continuing_subword_prefix", ""),
                        options.continuingPrefix);
      !s)
    return s;
  if (Status s = assign(section.getString("end_of_word_suffix", ""),
                        options.wordSuffix);
      !s)
    return s;
  if (Status s =
          assign(section.getBool("fuse_unk", false), options.fusesUnknown);
      !s)
    return s;
  if (Status s = assign(section.getBool("byte_fallback", false),
                        options.hasByteFallback);
      !s)
    return s;
  if (Status s = assign(section.getBool("ignore_merges", false),
                        options.ignoresMerges);
      !s)
    return s;
  Expected<MergeTable> merges =
      readMerges(section, options.continuingPrefix.size(), vocabulary);
  if (!merges)
    return merges.takeError();
  parts.model =
      std::make_unique<BpeModel>(std::make_shared<const Vocabulary>(vocabulary),
                                 std::move(*merges), std::move(options));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Other models
//===----------------------------------------------------------------------===//

static Status readUnigram(const Section &section, Tokenizer::Parts &parts) {
  if (Status s = section.hasOnly({"unk_id", "vocab", "byte_fallback"}); !s)
    return s;
  UnigramOptions options;
  if (section.has("unk_id")) {
    Expected<int64_t> id =
        section.cursor().getInt("unk_id", 0, parts.vocabulary->size() - 1);
    if (!id)
      return id.takeError();
    options.unknown = int32_t(*id);
  }
  if (Status s = assign(section.getBool("byte_fallback", false),
                        options.hasByteFallback);
      !s)
    return s;
  std::vector<double> scores;
  Expected<JsonCursor> vocab = section.cursor().get("vocab");
  if (!vocab)
    return vocab.takeError();
  if (Status s = forElements(*vocab,
                             [&](const JsonCursor &pair) {
                               scores.emplace_back();
                               return assign(pair.element(1).asDouble(),
                                             scores.back());
                             });
      !s)
    return s;
  parts.model = std::make_unique<UnigramModel>(
      std::make_shared<const Vocabulary>(*parts.vocabulary), std::move(scores),
      std::move(options));
  return Status::success();
}

/// The id of the required field `unk_token`.
static Expected<int32_t> readUnknown(const Section &section,
                                     const Vocabulary &vocabulary) {
  if (Expected<JsonCursor> field = section.cursor().get("unk_token"); !field)
    return field.takeError();
  Expected<int32_t> id = readToken(section, "unk_token", vocabulary);
  if (id && *id == Vocabulary::kNone)
    return section.cursor().error(
        "expects a token of the vocabulary as unk_token, but got null");
  return id;
}

static Status readWordPiece(const Section &section, Tokenizer::Parts &parts) {
  if (Status s = section.hasOnly({"unk_token", "continuing_subword_prefix",
                                  "max_input_chars_per_word", "vocab"});
      !s)
    return s;
  Expected<int32_t> unknown = readUnknown(section, *parts.vocabulary);
  if (!unknown)
    return unknown.takeError();
  Expected<std::string> prefix =
      section.getString("continuing_subword_prefix", "##");
  if (!prefix)
    return prefix.takeError();
  int64_t most = 100;
  if (section.has("max_input_chars_per_word"))
    if (Status s = assign(
            section.cursor().getInt("max_input_chars_per_word", 1, 100000),
            most);
        !s)
      return s;
  parts.model = std::make_unique<WordPieceModel>(
      std::make_shared<const Vocabulary>(*parts.vocabulary), *unknown,
      std::move(*prefix), most);
  return Status::success();
}

static Status readWordLevel(const Section &section, Tokenizer::Parts &parts) {
  if (Status s = section.hasOnly({"unk_token", "vocab"}); !s)
    return s;
  Expected<int32_t> unknown = readUnknown(section, *parts.vocabulary);
  if (!unknown)
    return unknown.takeError();
  parts.model = std::make_unique<WordLevelModel>(
      std::make_shared<const Vocabulary>(*parts.vocabulary), *unknown);
  return Status::success();
}

Status readModel(const JsonCursor &at, Tokenizer::Parts &parts,
                 bool isByteLevel) {
  Expected<Section> section = Section::open(at);
  if (!section)
    return section.takeError();
  parts.modelName = section->type();
  const bool hasScores = at.find("vocab")->value().isArray();
  if (hasScores != (parts.modelName == "Unigram"))
    return at.error(concat("expects the vocabulary of ", parts.modelName,
                           " as an ", hasScores ? "object" : "array",
                           ", but got an ", hasScores ? "array" : "object"));
  if (parts.modelName == "BPE")
    return readBpe(*section, parts, isByteLevel);
  if (parts.modelName == "Unigram")
    return readUnigram(*section, parts);
  return parts.modelName == "WordPiece" ? readWordPiece(*section, parts)
                                        : readWordLevel(*section, parts);
}

} // namespace weft
