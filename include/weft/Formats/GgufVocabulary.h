//===- GgufVocabulary.h - The tokenizer of a GGUF file ----------*- C++ -*-===//

#ifndef WEFT_FORMATS_GGUFVOCABULARY_H
#define WEFT_FORMATS_GGUFVOCABULARY_H

#include "weft/Formats/Gguf.h"

namespace weft {

/// The key of the tokens' texts; a file without it has no tokenizer.
inline constexpr char kGgufTokens[] = "tokenizer.ggml.tokens";

/// The keys `tokenizer.*`. Absent arrays are empty; the others have an element
/// for each token.
struct GgufVocabulary {
  std::string model; // "llama", "gpt2", ...: the algorithm
  std::string pre;   // the pre-tokenizer of "gpt2"; "" if not given
  std::vector<std::string> tokens;
  std::vector<float> scores;
  std::vector<int64_t> types; // 1 normal, 2 unknown, 3 control, 4 user, 6 byte
  std::vector<std::string> merges; // "a b", best first
  /// Numbers of special tokens, all below tokens.size().
  std::optional<int64_t> bos, eos, eot, unknown, separator, padding, mask;
  std::optional<bool> addBos, addEos, addSpacePrefix, removeExtraSpaces;
  /// The normalization table of SentencePiece, as bytes.
  std::string charsmap;
  std::optional<std::string> chatTemplate;
};

/// Nothing if the file has no tokenizer.
Expected<std::optional<GgufVocabulary>> readVocabulary(const GgufFile &file);

} // namespace weft

#endif // WEFT_FORMATS_GGUFVOCABULARY_H
