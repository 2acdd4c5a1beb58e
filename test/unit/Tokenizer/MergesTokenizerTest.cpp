//===- MergesTokenizerTest.cpp - vocab.json and merges.txt ----------------===//

#include "SmallTokenizers.h"

using namespace weft;

namespace {

constexpr const char *kVocab =
    R"({"a": 0, "b": 1, "\u0120": 2, "ab": 3, "\u0120ab": 4, "1": 5})";
constexpr const char *kMerges = "#version: 0.2\na b\n\u0120 ab\n";

class MergesTokenizerTest : public ::testing::Test {
protected:
  void write(const char *vocab, const char *merges, const char *settings) {
    dir.write("vocab.json", vocab);
    dir.write("merges.txt", merges);
    dir.write("tokenizer_config.json", settings);
  }
  std::string failure() const {
    const std::string text = errorOf(Tokenizer::load(dir.path()));
    const size_t at = text.find(dir.path());
    if (at == text.npos)
      return text;
    const std::string rest = text.substr(at + dir.path().size());
    return rest.substr(0, rest.find('|'));
  }
  Ids ids(std::string_view text) const {
    Expected<Tokenizer> made = Tokenizer::load(dir.path());
    EXPECT_EQ(errorOf(made), "ok");
    return made ? encoded(*made, text) : Ids();
  }

  TempDir dir;
};

constexpr const char *kGpt2 = R"({"tokenizer_class": "GPT2Tokenizer"})";

TEST_F(MergesTokenizerTest, Classes) {
  write(kVocab, kMerges, kGpt2);
  EXPECT_EQ(ids("ab ab11"), (Ids{3, 4, 5, 5}));
  EXPECT_EQ(ids("ab<|endoftext|>a"), (Ids{3, 6, 0}));
  write(kVocab, kMerges, R"({"tokenizer_class": "Qwen2TokenizerFast"})");
  EXPECT_EQ(ids("ab ab11"), (Ids{3, 4, 5, 5}));
  write(kVocab, kMerges, "{}");
  dir.write("config.json", R"({"model_type": "qwen3"})");
  EXPECT_EQ(ids("ab"), (Ids{3}));
}

TEST_F(MergesTokenizerTest, SpecialTokens) {
  write(kVocab, kMerges, R"({"tokenizer_class": "GPT2Tokenizer",
    "add_bos_token": true, "bos_token": {"content": "<s>"},
    "added_tokens_decoder": {"6": {"content": "<s>", "lstrip": false,
      "rstrip": true, "single_word": false, "normalized": false,
      "special": true}}})");
  EXPECT_EQ(ids("<s> ab"), (Ids{6, 6, 3}));
  write(kVocab, kMerges, kGpt2);
  dir.write("added_tokens.json", R"({"<x>": 6})");
  dir.write("special_tokens_map.json", R"({"eos_token": "<x>"})");
  Expected<Tokenizer> made = Tokenizer::load(dir.path());
  ASSERT_EQ(errorOf(made), "ok");
  EXPECT_EQ(made->specialIds().end, 6);
  EXPECT_TRUE(made->isSpecial(6));
  EXPECT_EQ(encoded(*made, "a<x>"), (Ids{0, 6}));
}

TEST_F(MergesTokenizerTest, Errors) {
  write(kVocab, kMerges, R"({"tokenizer_class": "CTRLTokenizer"})");
  EXPECT_EQ(failure(), "/tokenizer_config.json: expects GPT2Tokenizer or "
                       "Qwen2Tokenizer as tokenizer_class of a folder with "
                       "merges.txt, but got 'CTRLTokenizer'");
  write(kVocab, kMerges, "{}");
  EXPECT_EQ(failure(), "/merges.txt: expects tokenizer_class in "
                       "tokenizer_config.json, or a known model_type in "
                       "config.json, for merges.txt, but got neither");
  write(kVocab, "a b c\n", kGpt2);
  EXPECT_EQ(failure(), "/merges.txt:1: expects two tokens with a space between "
                       "them, but got 'a b c'");
  write(kVocab, "a b\nb b\n", kGpt2);
  EXPECT_EQ(failure(), "/merges.txt:2: expects a merge of tokens of vocab.json "
                       "to another one, but got no token 'bb'");
  write(R"({"a": 0, "b": 0})", "", kGpt2);
  EXPECT_EQ(failure(), "/vocab.json:1: field 'b': expects one token for each "
                       "number, but got 'a' and 'b' for 0");
  write(R"({"a": 0, "b": 2})", "", kGpt2);
  EXPECT_NE(failure().find("/vocab.json: expects"), std::string::npos);
  write("[]", "", kGpt2);
  EXPECT_NE(failure().find("/vocab.json:1: expects an object"),
            std::string::npos);
}

TEST_F(MergesTokenizerTest, MissingFile) {
  dir.write("vocab.json", kVocab);
  EXPECT_EQ(failure(), ": expects merges.txt beside vocab.json, but got none");
}

} // namespace
