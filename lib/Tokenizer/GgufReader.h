//===- GgufReader.h - Makes tokenizers of GGUF vocabularies -----*- C++ -*-===//
//
// Private to lib/Tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_GGUFREADER_H
#define WEFT_LIB_TOKENIZER_GGUFREADER_H

#include "Parts.h"

#include "weft/Formats/GgufVocabulary.h"

namespace weft {

/// Values of `tokenizer.ggml.token_type`.
enum class GgufTokenType {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4,
  Unused = 5,
  Byte = 6
};

class GgufReader {
public:
  explicit GgufReader(const GgufVocabulary &from)
      : from(from), parts(std::make_unique<Tokenizer::Parts>()) {}

  Expected<Tokenizer> run();

private:
  using Type = GgufTokenType;
  Type typeOf(size_t id) const {
    return from.types.empty() ? Type::Normal : Type(from.types[id]);
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
