//===- Parts.h - The parts of a tokenizer -----------------------*- C++ -*-===//
//
// Private to lib/Tokenizer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_TOKENIZER_PARTS_H
#define WEFT_LIB_TOKENIZER_PARTS_H

#include "AddedTokens.h"
#include "Decoders.h"
#include "Model.h"
#include "PreTokenizers.h"

#include "weft/Tokenizer/Tokenizer.h"

#include <mutex>

namespace weft {

/// A library that encodes and decodes whole texts itself.
class WholeEncoder {
public:
  virtual ~WholeEncoder() = default;
  virtual Status encode(std::string_view text,
                        std::vector<int32_t> &ids) const = 0;
  virtual Expected<std::string>
  decode(const std::vector<int32_t> &ids) const = 0;
};

struct Tokenizer::Parts {
  std::string modelName;
  /// Tokens of the model; ids of added tokens too.
  std::shared_ptr<Vocabulary> vocabulary = std::make_shared<Vocabulary>();
  std::vector<bool> specials;
  SpecialIds specialIds;

  TokenFinder rawTokens, normalizedTokens;
  NormalizerList normalizers;
  PreTokenizerList preTokenizers;
  std::unique_ptr<Model> model;
  TextFrame frame;
  DecoderList decoders;
  /// Whether the decoder joins the bytes of byte-level tokens.
  bool decodesBytes = false;
  /// Texts of added tokens that decoders see in place of their own.
  std::vector<std::pair<int32_t, std::string>> decodedTexts;
  /// Whether malformed UTF-8 stays as it is.
  bool takesAnyBytes = false;
  /// In place of all parts above from the normalizers on.
  std::unique_ptr<WholeEncoder> whole;

  /// Memory of encodings that have ended.
  std::mutex lock;
  std::vector<std::unique_ptr<Scratch>> idle;
};

/// Makes tokenizers of parts.
class TokenizerBuilder {
public:
  static Tokenizer make(std::unique_ptr<Tokenizer::Parts> parts) {
    return Tokenizer(std::move(parts));
  }
};

/// Puts added tokens into the vocabulary and the finders, whose normalizers
/// are set.
Status addTokens(Tokenizer::Parts &parts,
                 const std::vector<AddedToken> &tokens);

/// Normalises a text in place.
Status normalize(const NormalizerList &normalizers, NormalizedText &text,
                 RegexMatch &match);

} // namespace weft

#endif // WEFT_LIB_TOKENIZER_PARTS_H
