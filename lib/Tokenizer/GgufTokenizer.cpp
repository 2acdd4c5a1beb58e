//===- GgufTokenizer.cpp - Tokenizers of GGUF vocabularies ----------------===//
//
// "gpt2" is byte-level BPE with merges, "llama" SentencePiece's BPE, whose
// merges follow from the scores, "t5" a Unigram model.
//
//===----------------------------------------------------------------------===//

#include "BpeModel.h"
#include "GgufReader.h"

#include "weft/Base/Results.h"

#include <algorithm>
#include <cmath>

namespace weft {

static constexpr std::string_view kSpaceMark = "\xE2\x96\x81"; // U+2581

namespace {

/// How a file names the pre-tokenizer of a byte-level model.
struct NamedSplit {
  const char *names; // with a space on both sides
  bool splitsDigits; // single digits first
  const char *words; // "" for GPT-2's expression
  bool ignoresMerges, addsBeginning;
};

} // namespace

static const NamedSplit kSplits[] = {
    {" gpt-2 gpt2 mpt olmo jais ", false, "", false, false},
    {" smollm starcoder refact command-r codeshell ", true, "", false, false},
    {" llama-bpe llama3 llama-v3 ", false, kLlama3Words, true, true},
    {" qwen2 deepseek-r1-qwen stablelm2 ", false, kQwen2Words, false, false},
};

Status GgufReader::checkFields() const {
  const size_t count = from.tokens.size();
  if (count == 0)
    return inputError("expects tokens in tokenizer.ggml.tokens, but got none");
  auto checkSize = [&](const char *name, size_t size) -> Status {
    if (size != 0 && size != count)
      return inputError("expects ", count, " values in tokenizer.ggml.", name,
                        ", one for each token, but got ", size);
    return Status::success();
  };
  if (Status s = checkSize("token_type", from.types.size()); !s)
    return s;
  if (Status s = checkSize("scores", from.scores.size()); !s)
    return s;
  for (float score : from.scores)
    if (!std::isfinite(score))
      return inputError("expects finite numbers in tokenizer.ggml.scores, but "
                        "got ",
                        numberText(score));
  for (int64_t type : from.types)
    if (type < 1 || type > 6)
      return inputError("expects values from 1 to 6 in "
                        "tokenizer.ggml.token_type, but got ",
                        type);
  for (const std::string &merge : from.merges)
    if (wellFormedPrefix(merge) != merge.size())
      return inputError("expects UTF-8 in tokenizer.ggml.merges, but got ",
                        inQuotes(merge));
  return Status::success();
}

Status GgufReader::readTokens() {
  for (size_t id = 0; id < from.tokens.size(); ++id) {
    const std::string &text = from.tokens[id];
    if (wellFormedPrefix(text) != text.size())
      return inputError("expects UTF-8 in tokenizer.ggml.tokens, but got ",
                        inQuotes(text), " for ", id);
    if (Status s = parts->vocabulary->add(text, int64_t(id)); !s)
      return s;
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// gpt2
//===----------------------------------------------------------------------===//

Status GgufReader::readMerges(const Vocabulary &words,
                              MergeTable &merges) const {
  merges.reserve(from.merges.size());
  for (size_t i = 0; i < from.merges.size(); ++i) {
    const std::string &text = from.merges[i];
    const size_t space = text.find(' ', 1);
    if (space == text.npos)
      return inputError("expects two tokens with a space between them in "
                        "tokenizer.ggml.merges, but got ",
                        inQuotes(text));
    const std::string left = text.substr(0, space);
    const std::string right = text.substr(space + 1);
    for (const std::string &token : {left, right, left + right})
      if (words.find(token) == Vocabulary::kNone)
        return inputError("expects tokens of the vocabulary in "
                          "tokenizer.ggml.merges, but got ",
                          inQuotes(token));
    merges.add(words.find(left), words.find(right), uint32_t(i),
               words.find(left + right));
  }
  return Status::success();
}

Status GgufReader::readByteLevel() {
  const NamedSplit *split = nullptr;
  for (const NamedSplit &known : kSplits)
    if (std::string_view(known.names).find(" " + from.pre + " ") !=
        std::string_view::npos)
      split = &known;
  if (!split || from.pre.empty() || from.pre.find(' ') != std::string::npos)
    return inputError("does not support the pre-tokenizer ", inQuotes(from.pre),
                      " of tokenizer.ggml.pre yet")
        .hint("use the tokenizer.json of the model");
  PreTokenizerList &steps = parts->preTokenizers;
  if (split->splitsDigits)
    steps.push_back(
        std::make_shared<CharacterSplit>(isNumeric, SplitBehavior::Isolated));
  if (Status s = addByteLevelSplits(split->words,
                                    from.addSpacePrefix.value_or(false), steps);
      !s)
    return s;
  MergeTable merges;
  if (Status s = readMerges(*parts->vocabulary, merges); !s)
    return s;
  BpeOptions options;
  options.ignoresMerges = split->ignoresMerges;
  setByteLevelModel(*parts, std::move(merges), std::move(options));
  addsBeginning = split->addsBeginning;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Special tokens
//===----------------------------------------------------------------------===//

/// Control tokens are special. Tokens of the user are found in normalised
/// text, where a space is U+2581 for the models of SentencePiece.
Status GgufReader::addSpecials() {
  std::vector<AddedToken> controls;
  for (size_t id = 0; id < from.tokens.size(); ++id) {
    AddedToken token;
    token.content = from.tokens[id];
    token.id = int32_t(id);
    token.isSpecial =
        typeOf(id) == Type::Control || typeOf(id) == Type::Unknown;
    if (token.content.empty())
      continue;
    if (token.isSpecial || (typeOf(id) == Type::UserDefined && isByteLevel()))
      controls.push_back(token);
    else if (typeOf(id) == Type::UserDefined) {
      std::string text;
      for (char c : token.content)
        text += c == ' ' ? std::string(kSpaceMark) : std::string(1, c);
      parts->normalizedTokens.add(text, token);
    }
  }
  // libsentencepiece writes unknown text as U+2047.
  if (!isByteLevel() && parts->specialIds.unknown)
    parts->decodedTexts.emplace_back(*parts->specialIds.unknown,
                                     " \xE2\x81\x87 ");
  return addTokens(*parts, controls);
}

Status GgufReader::readRole(const std::optional<int64_t> &id, const char *name,
                            std::optional<int32_t> &role) {
  if (!id)
    return Status::success();
  if (!parts->vocabulary->has(*id))
    return inputError("expects a token of the vocabulary as tokenizer.ggml.",
                      name, ", but got ", *id);
  role = int32_t(*id);
  return Status::success();
}

Status GgufReader::readRoles() {
  SpecialIds &roles = parts->specialIds;
  if (Status s = readRole(from.bos, "bos_token_id", roles.beginning); !s)
    return s;
  if (Status s = readRole(from.eos, "eos_token_id", roles.end); !s)
    return s;
  if (Status s = readRole(from.unknown, "unknown_token_id", roles.unknown); !s)
    return s;
  return readRole(from.padding, "padding_token_id", roles.padding);
}

Expected<Tokenizer> GgufReader::run() {
  if (from.model != "gpt2" && from.model != "llama" && from.model != "t5")
    return inputError("does not support the model ", inQuotes(from.model),
                      " of tokenizer.ggml.model yet")
        .hint("use the tokenizer.json of the model");
  if (Status s = checkFields(); !s)
    return s.takeError();
  if (Status s = readTokens(); !s)
    return s.takeError();
  if (Status s = readRoles(); !s)
    return s.takeError();
  if (Status s = isByteLevel() ? readByteLevel() : readScored(); !s)
    return s.takeError();
  if (Status s = addSpecials(); !s)
    return s.takeError();
  const SpecialIds &roles = parts->specialIds;
  if (from.addBos.value_or(addsBeginning) && roles.beginning)
    parts->frame.before = {*roles.beginning};
  if (from.addEos.value_or(addsEnd) && roles.end)
    parts->frame.behind = {*roles.end};
  parts->modelName = from.model == "t5" ? "Unigram" : "BPE";
  return TokenizerBuilder::make(std::move(parts));
}

Expected<Tokenizer> Tokenizer::fromGguf(const GgufVocabulary &vocabulary,
                                        const std::string &file) {
  Expected<Tokenizer> made = GgufReader(vocabulary).run();
  if (!made)
    return made.takeError().at(file);
  return made;
}

} // namespace weft
