//===- GgufReader.h - Makes tokenizers of GGUF vocabularies -----*- C++ -*-===//
//
// Private to lib/Tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_GGUFREADER_H
#define WEFT_LIB_TOKENIZER_GGUFREADER_H

#include "Parts.h"

#include "weft/Tokenizer/GgufVocabulary.h"

namespace weft {

class GgufReader {
public:
  explicit GgufReader(const GgufVocabulary &from)
      : from(from), parts(std::make_unique<Tokenizer::Parts>()) {}

  Expected<Tokenizer> run();

private:
  using Type = GgufTokenType;
  Type typeOf(size_t id) const {
    return from.tokenTypes.empty() ? Type::Normal : Type(from.tokenTypes[id]);
  }
  Status checkFields() const;
  Status readTokens();
  Status readByteLevel();
  Status readMerges(const Vocabulary &words, MergeTable &merges) const;
  Status readScored();
  void addSpaceRules();
  Status readBpeByScores();
  Status readUnigram();
  Expected<Vocabulary> modelWords() const;
  Status addSpecials();
  Status readRole(const std::optional<int64_t> &id, const char *name,
                  std::optional<int32_t> &role);
  Status readRoles();
  bool isByteLevel() const { return from.model == "gpt2"; }

  const GgufVocabulary &from;
  std::unique_ptr<Tokenizer::Parts> parts;
  bool addsBeginning = false, addsEnd = false, addsSpace = false;
};

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_GGUFREADER_H
