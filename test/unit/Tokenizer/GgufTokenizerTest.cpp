//===- GgufTokenizerTest.cpp - Vocabularies of GGUF files -----------------===//

#include "SmallTokenizers.h"

#include "weft/Formats/GgufVocabulary.h"

using namespace weft;

static Tokenizer made(const GgufVocabulary &vocabulary) {
  Expected<Tokenizer> tokenizer = Tokenizer::fromGguf(vocabulary, "m.gguf");
  EXPECT_EQ(errorOf(tokenizer), "ok");
  return std::move(*tokenizer);
}
static std::string failure(const GgufVocabulary &vocabulary) {
  return errorOf(Tokenizer::fromGguf(vocabulary, "m.gguf"));
}

static GgufVocabulary byteLevel() {
  GgufVocabulary from;
  from.model = "gpt2";
  from.pre = "smollm";
  from.tokens = {"<|end|>", "a", "1", "Ġ", "Ġa"};
  from.types = {3, 1, 1, 1, 1};
  from.merges = {"Ġ a"};
  from.eos = 0;
  return from;
}

TEST(GgufTokenizer, ByteLevel) {
  Tokenizer tokenizer = made(byteLevel());
  EXPECT_EQ(encoded(tokenizer, "a a11<|end|>"), Ids({1, 4, 2, 2, 0}));
  EXPECT_EQ(*tokenizer.specialIds().end, 0);
  EXPECT_EQ(*tokenizer.decode({1, 4, 0}), "a a");
}

static GgufVocabulary scored() {
  GgufVocabulary from;
  from.model = "llama";
  from.tokens = {"<unk>", "<s>", "a", "b", "▁", "ab", "▁a", "  "};
  from.scores = {0, 0, -9, -9, -9, -2, -1, 0};
  from.types = {2, 3, 1, 1, 1, 1, 1, 4};
  from.unknown = 0;
  from.bos = 1;
  from.addSpacePrefix = false;
  return from;
}

TEST(GgufTokenizer, MergesByScore) {
  Tokenizer tokenizer = made(scored());
  EXPECT_EQ(encoded(tokenizer, "ab ab"), Ids({1, 5, 6, 3}));
  EXPECT_EQ(encoded(tokenizer, "a  b", {false, true}), Ids({2, 7, 3}));
  EXPECT_EQ(encoded(tokenizer, "xyz", {false, true}), Ids({0}));
  EXPECT_EQ(*tokenizer.decode({1, 5, 6, 3, 7}), "ab ab  ");
}

TEST(GgufTokenizer, AddsASpace) {
  GgufVocabulary from = scored();
  from.addSpacePrefix = true;
  Tokenizer tokenizer = made(from);
  EXPECT_EQ(encoded(tokenizer, "a"), Ids({1, 6}));
  EXPECT_EQ(*tokenizer.decode({1, 6}), "a");
}

TEST(GgufTokenizer, Errors) {
  GgufVocabulary from = byteLevel();
  from.merges = {"a b"};
  EXPECT_EQ(failure(from), "3|m.gguf: expects tokens of the vocabulary in "
                           "tokenizer.ggml.merges, but got 'b'");
  from = byteLevel();
  from.pre = "unheard";
  EXPECT_EQ(failure(from),
            "3|m.gguf: does not support the pre-tokenizer 'unheard' of "
            "tokenizer.ggml.pre yet|use the tokenizer.json of the model");
  from = byteLevel();
  from.model = "rwkv";
  EXPECT_EQ(failure(from),
            "3|m.gguf: does not support the model 'rwkv' of "
            "tokenizer.ggml.model yet|use the tokenizer.json of the model");
  from = byteLevel();
  from.eos = 5;
  EXPECT_EQ(failure(from), "3|m.gguf: expects a token of the vocabulary as "
                           "tokenizer.ggml.eos_token_id, but got 5");
  from = scored();
  from.scores.pop_back();
  EXPECT_EQ(failure(from), "3|m.gguf: expects 8 values in "
                           "tokenizer.ggml.scores, one for each token, but got "
                           "7");
  from = scored();
  from.tokens[3] = "a";
  EXPECT_EQ(failure(from), "3|m.gguf: expects one number for each token, but "
                           "got 2 and 3 for 'a'");
}
