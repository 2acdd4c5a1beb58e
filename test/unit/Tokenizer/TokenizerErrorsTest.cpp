//===- TokenizerErrorsTest.cpp - Tokenizers that are refused --------------===//

#include "SmallTokenizers.h"

using namespace weft;

static std::string failure(const std::string &json) {
  return errorOf(Tokenizer::parseJson(json, "t.json"));
}

/// A BPE tokenizer of three tokens, with other sections in front.
static std::string
small(const std::string &sections, const std::string &merges = R"(["a b"])",
      const std::string &vocab = R"({"a": 0, "b": 1, "ab": 2})") {
  return "{" + sections + R"("model": {"type": "BPE", "vocab": )" + vocab +
         R"(, "merges": )" + merges + "}}";
}

TEST(TokenizerErrors, DamagedJson) {
  EXPECT_EQ(failure("{"), "3|t.json:1: malformed JSON: syntax error while "
                          "parsing object key - unexpected end of input; "
                          "expected string literal");
  EXPECT_EQ(failure("[]"), "3|t.json:1: expects an object, but got an array");
  EXPECT_EQ(failure("{}"), "3|t.json:1: field 'model' is missing");
}

TEST(TokenizerErrors, Models) {
  EXPECT_EQ(failure(R"({"model": {"type": "Bytes"}})"),
            "3|t.json:1: field 'model': does not support the model 'Bytes' "
            "yet");
  EXPECT_EQ(failure(small("", R"(["a c"])")),
            "3|t.json:1: field 'model.merges[0]': expects a merge of tokens of "
            "the vocabulary to another one, but got no token 'c'");
  EXPECT_EQ(failure(small("", R"(["b a"])")),
            "3|t.json:1: field 'model.merges[0]': expects a merge of tokens of "
            "the vocabulary to another one, but got no token 'ba'");
  EXPECT_EQ(failure(small("", "[]", R"({"a": 0, "b": 2})")),
            "3|t.json:1: field 'model': expects a token for each number from 0 "
            "to 2, but got none for 1");
  EXPECT_EQ(failure(small("", "[]", R"({"a": 0, "b": 0})")),
            "3|t.json:1: field 'model.vocab.b': expects one token for each "
            "number, but got 'a' and 'b' for 0");
  EXPECT_EQ(failure(small("", "[]", R"({"a": -1})")),
            "3|t.json:1: field 'model.vocab.a': expects token numbers from 0 "
            "to 16777215, but got -1 for 'a'");
  EXPECT_EQ(failure(R"({"model": {"type": "BPE", "dropout": 0.5, "vocab": {},
                        "merges": []}})"),
            "3|t.json:1: field 'model': does not support dropout yet, but got "
            "0.5");
  EXPECT_EQ(failure(R"({"model": {"type": "Unigram", "vocab": {}}})"),
            "3|t.json:1: field 'model': expects the vocabulary of Unigram as "
            "an array, but got an object");
}

TEST(TokenizerErrors, Sections) {
  EXPECT_EQ(failure(small(R"("normalizer": {"type": "NFX"},)")),
            "3|t.json:1: field 'normalizer': does not support the normalizer "
            "'NFX' yet");
  EXPECT_EQ(failure(small(R"("pre_tokenizer": {"type": "UnicodeScripts"},)")),
            "3|t.json:1: field 'pre_tokenizer': does not support the "
            "pre-tokenizer 'UnicodeScripts' yet");
  EXPECT_EQ(failure(small(R"("decoder": {"type": "CTC"},)")),
            "3|t.json:1: field 'decoder': does not support the decoder 'CTC' "
            "yet");
  EXPECT_EQ(failure(small(R"("post_processor": {"type": "X"},)")),
            "3|t.json:1: field 'post_processor': does not support the "
            "post-processor 'X' yet");
  EXPECT_EQ(failure(small(R"("extra": 1,)")),
            "3|t.json:1: does not support the section 'extra' of a tokenizer "
            "yet");
  EXPECT_EQ(failure(small(R"("normalizer": {"type": "NFC", "x": 1},)")),
            "3|t.json:1: field 'normalizer': does not support the field 'x' of "
            "NFC yet");
  EXPECT_EQ(failure(small(R"("padding": {"strategy": "x"},)")),
            "3|t.json:1: field 'padding': does not support padding of texts "
            "yet|set the field to null: weft cuts texts into rows of the "
            "sequence length itself");
  EXPECT_EQ(failure(small(R"("version": "2.0",)")),
            "3|t.json:1: field 'version': expects version \"1.0\", but got "
            "\"2.0\"");
}

TEST(TokenizerErrors, Expressions) {
  auto split =
      [&](const std::string &regex) {
        return failure(small(R"("pre_tokenizer": {"type": "Split", "pattern":
      {"Regex": ")" + regex + R"("}, "behavior": "Isolated"},)"));
      };
  EXPECT_EQ(split("a{2}+|[^\\\\s]|(?i:'s)|\\\\p{Han}"), "ok");
  EXPECT_NE(split("[a[b]]").find("does not support '[ in a class'"),
            std::string::npos);
  EXPECT_NE(split("[a&&b]").find("does not support '&& in a class'"),
            std::string::npos);
  EXPECT_NE(split("\\\\G").find("does not support '\\G'"), std::string::npos);
  EXPECT_NE(split("(?<n>a)").find("does not support '(?<n'"),
            std::string::npos);
  EXPECT_NE(split("(a").find("expects a regular expression, but got '(a'"),
            std::string::npos);
}

TEST(TokenizerErrors, AddedTokens) {
  auto added = [&](const std::string &id, const std::string &content) {
    return failure(small(R"("added_tokens": [{"id": )" + id +
                         R"(, "content": ")" + content +
                         R"(", "single_word": false, "lstrip": false,
          "rstrip": false, "normalized": false, "special": true}],)"));
  };
  EXPECT_EQ(added("3", "<s>"), "ok");
  EXPECT_EQ(added("1", "<s>"),
            "3|t.json:1: field 'added_tokens[0]': expects one token for each "
            "number, but got 'b' and '<s>' for 1");
  EXPECT_EQ(added("3", "a"),
            "3|t.json:1: field 'added_tokens[0]': expects the number of the "
            "vocabulary for 'a', which is 0, but got 3");
}

TEST(TokenizerErrors, Files) {
  TempDir dir;
  const std::string none = errorOf(Tokenizer::load(dir.path()));
  EXPECT_NE(none.find("expects tokenizer.json, tokenizer.model, or "
                      "vocab.json and merges.txt in the folder, but got none"),
            std::string::npos);
  const std::string bytes =
      errorOf(Tokenizer::load(dir.write("tokenizer.model", "\x01\x02")));
  EXPECT_NE(bytes.find("expects a model of SentencePiece, but got other "
                       "bytes"),
            std::string::npos);
  const std::string other =
      errorOf(Tokenizer::load(dir.write("notes.txt", "some notes")));
  EXPECT_NE(other.find("expects a tokenizer, but got a file of another kind: "
                       "expects a model of SentencePiece, but got other bytes|"
                       "a tokenizer is tokenizer.json, tokenizer.model, "),
            std::string::npos)
      << other;
}
