//===- SmallTokenizers.h - Tokenizers of a few tokens -----------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_TOKENIZER_SMALLTOKENIZERS_H
#define WEFT_TEST_UNIT_TOKENIZER_SMALLTOKENIZERS_H

#include "../Base/TestSupport.h"

#include "weft/Tokenizer/Tokenizer.h"

namespace weft {

/// BPE with bytes for unknown characters: 0 to 255 are the bytes.
inline std::string fallbackModel() {
  std::string vocab;
  for (int byte = 0; byte < 256; ++byte) {
    char name[16];
    std::snprintf(name, sizeof name, "\"<0x%02X>\": %d, ", byte, byte);
    vocab += name;
  }
  return R"("model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true,
    "byte_fallback": true, "vocab": {)" +
         vocab + R"("<unk>": 256, "a": 257, "b": 258, "▁": 259, "ab": 260,
    "▁a": 261, "▁ab": 262, "aa": 263},
    "merges": [["a", "b"], ["▁", "ab"], ["a", "a"], ["▁", "a"]]})";
}

/// Such a tokenizer with other sections in front.
inline std::string fallbackJson(const std::string &sections = "") {
  return "{" + sections + fallbackModel() + "}";
}

inline constexpr const char *kMarkedSpaces = R"(
  "normalizer": {"type": "Replace", "pattern": {"String": " "},
                 "content": "▁"},
  "decoder": {"type": "Sequence", "decoders": [
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    {"type": "ByteFallback"}, {"type": "Fuse"}]},)";

inline Tokenizer parsed(const std::string &json) {
  Expected<Tokenizer> made = Tokenizer::parseJson(json, "t.json");
  EXPECT_EQ(errorOf(made), "ok");
  return std::move(*made);
}

using Ids = std::vector<int32_t>;

inline Ids encoded(const Tokenizer &tokenizer, std::string_view text,
                   const EncodeOptions &options = {}) {
  Expected<Ids> ids = tokenizer.encode(text, options);
  EXPECT_EQ(errorOf(ids), "ok");
  return ids ? *ids : Ids();
}

} // namespace weft

#endif // WEFT_TEST_UNIT_TOKENIZER_SMALLTOKENIZERS_H
