//===- WordModels.h - WordPiece and WordLevel -------------------*- C++ -*-===//
//
// Private to lib/Tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_WORDMODELS_H
#define WEFT_LIB_TOKENIZER_WORDMODELS_H

#include "Model.h"

#include <memory>

namespace weft {

/// The longest tokens from left to right; a word that has none is unknown.
class WordPieceModel : public Model {
public:
  WordPieceModel(std::shared_ptr<const Vocabulary> vocabulary, int32_t unknown,
                 std::string continuingPrefix, int64_t mostCharacters)
      : vocabulary(std::move(vocabulary)), unknown(unknown),
        continuingPrefix(std::move(continuingPrefix)),
        mostCharacters(mostCharacters) {}

  Status encode(std::string_view piece, Scratch &scratch,
                std::vector<int32_t> &ids) const override;

private:
  bool encodeKnown(std::string_view piece, std::vector<int32_t> &ids) const;

  std::shared_ptr<const Vocabulary> vocabulary;
  int32_t unknown;
  std::string continuingPrefix;
  int64_t mostCharacters;
};

/// A piece is one token.
class WordLevelModel : public Model {
public:
  WordLevelModel(std::shared_ptr<const Vocabulary> vocabulary, int32_t unknown)
      : vocabulary(std::move(vocabulary)), unknown(unknown) {}

  Status encode(std::string_view piece, Scratch &scratch,
                std::vector<int32_t> &ids) const override;

private:
  std::shared_ptr<const Vocabulary> vocabulary;
  int32_t unknown;
};

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_WORDMODELS_H
