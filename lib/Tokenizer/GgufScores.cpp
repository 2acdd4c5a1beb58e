//===- GgufScores.cpp - GGUF vocabularies whose tokens have scores --------===//
//
// "llama" is SentencePiece's BPE, whose merges follow from the scores, "t5" a
// Unigram model.
//
//===----------------------------------------------------------------------===//

#include "BpeModel.h"
#include "GgufReader.h"
#include "UnigramModel.h"

#include "weft/Base/Results.h"

#include <algorithm>

namespace weft {

static constexpr std::string_view kSpaceMark = "\xE2\x96\x81"; // U+2581
/// The merges of longer tokens would take too many steps to find.
static constexpr size_t kMostTokenBytes = 1024;

/// The tokens that text may become: normal ones and bytes.
Expected<Vocabulary> GgufReader::modelWords() const {
  Vocabulary words;
  for (size_t id = 0; id < from.tokens.size(); ++id)
    if (typeOf(id) == Type::Normal || typeOf(id) == Type::Byte)
      if (Status s = words.add(from.tokens[id], int64_t(id)); !s)
        return s.takeError();
  return words;
}

void GgufReader::addSpaceRules() {
  NormalizerList &list = parts->normalizers;
  if (from.removeExtraSpaces.value_or(false))
    list.push_back(std::make_shared<ExtraSpaceNormalizer>());
  addsSpace = from.addSpacePrefix.value_or(true);
  if (addsSpace)
    list.push_back(std::make_shared<PrependNormalizer>(" "));
  list.push_back(std::make_shared<ReplaceNormalizer>(Pattern{" ", std::nullopt},
                                                     std::string(kSpaceMark)));
  parts->decoders.push_back(std::make_shared<ReplaceDecoder>(
      Pattern{std::string(kSpaceMark), std::nullopt}, " "));
  parts->decoders.push_back(std::make_shared<ByteFallbackDecoder>());
  parts->decoders.push_back(std::make_shared<FuseDecoder>());
  if (addsSpace)
    parts->decoders.push_back(std::make_shared<StripDecoder>(" ", 1, 0));
}

Status GgufReader::readScored() {
  if (from.scores.empty())
    return inputError("expects scores of tokens in tokenizer.ggml.scores, but "
                      "got none");
  if (!from.charsmap.empty()) {
    Expected<Charsmap> map = Charsmap::parse(from.charsmap);
    if (!map)
      return map.takeError();
    parts->normalizers.push_back(std::make_shared<CharsmapNormalizer>(
        std::move(*map), CharsmapNormalizer::Rule::Longest));
  }
  addSpaceRules();
  for (size_t id = 0; id < from.tokens.size(); ++id)
    if (typeOf(id) == Type::Unused)
      return inputError("does not support tokens of the type 5, unused, in "
                        "tokenizer.ggml.token_type yet, but got ",
                        inQuotes(from.tokens[id]));
  return from.model == "llama" ? readBpeByScores() : readUnigram();
}

/// The rank of each token: equal scores have equal ranks.
static std::vector<uint32_t> ranksOf(const std::vector<float> &scores) {
  std::vector<float> sorted = scores;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<uint32_t> ranks;
  for (float score : scores)
    ranks.push_back(uint32_t(std::lower_bound(sorted.begin(), sorted.end(),
                                              score, std::greater<>()) -
                             sorted.begin()));
  return ranks;
}

Status GgufReader::readBpeByScores() {
  Expected<Vocabulary> words = modelWords();
  if (!words)
    return words.takeError();
  const std::vector<uint32_t> ranks = ranksOf(from.scores);
  auto findNormal = [&](std::string_view text) {
    const int32_t id = words->find(text);
    return id != Vocabulary::kNone && typeOf(size_t(id)) == Type::Normal
               ? id
               : Vocabulary::kNone;
  };
  MergeTable merges;
  for (size_t id = 0; id < from.tokens.size(); ++id) {
    const std::string_view text = from.tokens[id];
    if (typeOf(id) != Type::Normal || text.empty())
      continue;
    if (text.size() > kMostTokenBytes)
      return inputError("expects tokens of at most ", kMostTokenBytes,
                        " bytes, but got one of ", text.size());
    for (size_t at = sequenceLength(text[0]); at < text.size();
         at += sequenceLength(text[at])) {
      const int32_t left = findNormal(text.substr(0, at));
      const int32_t right =
          left == Vocabulary::kNone ? left : findNormal(text.substr(at));
      if (right != Vocabulary::kNone)
        merges.add(left, right, ranks[id], int32_t(id));
    }
  }
  BpeOptions options;
  options.unknown = parts->specialIds.unknown.value_or(Vocabulary::kNone);
  options.fusesUnknown = options.hasByteFallback = true;
  parts->model = std::make_unique<BpeModel>(
      std::make_shared<const Vocabulary>(std::move(*words)), std::move(merges),
      std::move(options));
  addsBeginning = true;
  return Status::success();
}

Status GgufReader::readUnigram() {
  Expected<Vocabulary> words = modelWords();
  if (!words)
    return words.takeError();
  if (!parts->specialIds.unknown)
    return inputError("expects tokenizer.ggml.unknown_token_id for the model "
                      "t5, but got none");
  UnigramOptions options;
  options.unknown = *parts->specialIds.unknown;
  options.hasByteFallback = options.addsSingles = true;
  for (size_t id = 0; id < from.tokens.size(); ++id)
    options.isCandidate.push_back(typeOf(id) == Type::Normal);
  parts->model = std::make_unique<UnigramModel>(
      std::make_shared<const Vocabulary>(std::move(*words)),
      std::vector<double>(from.scores.begin(), from.scores.end()),
      std::move(options));
  addsEnd = true;
  return Status::success();
}

} // namespace weft
