//===- GgufVocabulary.h - The vocabulary inside a GGUF file -----*- C++ -*-===//

#ifndef WEFT_TOKENIZER_GGUFVOCABULARY_H
#define WEFT_TOKENIZER_GGUFVOCABULARY_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// The fields `tokenizer.ggml.*`, with the name of each behind it.
struct GgufVocabulary {
  std::string model;               // model: "gpt2", "llama", "t5"
  std::string preTokenizer;        // pre; "" if absent
  std::vector<std::string> tokens; // tokens, by id
  std::vector<float> scores;       // scores; may be empty
  std::vector<int32_t> tokenTypes; // token_type; may be empty
  std::vector<std::string> merges; // merges; "left right"
  std::string charsmap;            // precompiled_charsmap, as bytes

  std::optional<int64_t> beginning;       // bos_token_id
  std::optional<int64_t> end;             // eos_token_id
  std::optional<int64_t> unknown;         // unknown_token_id
  std::optional<int64_t> padding;         // padding_token_id
  std::optional<bool> addsBeginning;      // add_bos_token
  std::optional<bool> addsEnd;            // add_eos_token
  std::optional<bool> addsSpace;          // add_space_prefix
  std::optional<bool> removesExtraSpaces; // remove_extra_whitespaces
};

/// Values of `token_type`.
enum class GgufTokenType : int32_t {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4,
  Unused = 5,
  Byte = 6
};

} // namespace weft

#endif // WEFT_TOKENIZER_GGUFVOCABULARY_H
