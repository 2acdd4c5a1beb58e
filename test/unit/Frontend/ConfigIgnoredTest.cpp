//===- ConfigIgnoredTest.cpp - Fields of config.json without effect -------===//

#include "ConfigFixture.h"

using namespace weft;

/// Only an unknown field can be passed over.
TEST_F(ConfigTest, IgnoredFieldsAreUnknownOnes) {
  auto message = [](const std::string &field, const std::string &why) {
    return "config.json:0: --ignore-field expects a field of this file that "
           "weft does not know, but got '" +
           field + "', " + why + "\n";
  };
  const std::string absent = "which is not in it", known = "which weft knows";
  options.ignoreFields = {"n_experts"};
  EXPECT_EQ(errorOf(gpt2()), message("n_experts", absent));
  EXPECT_TRUE(load(gpt2("\"n_experts\": null"))) << messages;
  for (const char *field : {"n_embd", "resid_pdrop", "n_ctx", "use_cache",
                            "n_special", "unsloth_version"}) {
    options.ignoreFields = {field};
    EXPECT_EQ(errorOf(gpt2("\"unsloth_version\": \"1\", \"n_ctx\": 4")),
              message(field, known));
  }
  options.ignoreFields = {"rope_scaling.rope_type"};
  EXPECT_EQ(errorOf(llama("\"rope_scaling\": {\"rope_type\": \"default\"}")),
            message("rope_scaling.rope_type", known));
  // An object as a whole is unknown only where its family does not read it.
  options.ignoreFields = {"rope_scaling"};
  EXPECT_TRUE(load(gpt2("\"rope_scaling\": {\"factor\": 2}"))) << messages;
}

TEST_F(ConfigTest, FieldsWithoutEffect) {
  ASSERT_TRUE(
      load(gpt2("\"n_special\": 0, \"predict_special_tokens\": true, "
                "\"output_past\": true, \"tie_encoder_decoder\": false, "
                "\"is_llama_config\": true, \"use_sliding_window\": false, "
                "\"unsloth_fixed\": true, \"unsloth_version\": \"2024.9\", "
                "\"transformers.js_config\": {\"dtype\": \"q4\"}, "
                "\"pad_token_id\": 3")))
      << messages;
  EXPECT_EQ(messages, ""); // GPT-2 has no row of padding
  ASSERT_TRUE(load(llama("\"is_llama_config\": true, "
                         "\"rope_interleaved\": false, "
                         "\"partial_rotary_factor\": 1.0, "
                         "\"use_sliding_window\": false, "
                         "\"tie_encoder_decoder\": false")))
      << messages;
  EXPECT_EQ(messages, "");
}

/// The same fields where they ask for something.
TEST_F(ConfigTest, EffectsThatAreNotBuilt) {
  const std::pair<const char *, const char *> both[] = {
      {"\"tie_encoder_decoder\": true",
       "field 'tie_encoder_decoder': does not support encoder-decoder models "
       "yet"},
      {"\"use_sliding_window\": true",
       "field 'use_sliding_window': does not support sliding windows of "
       "attention yet"},
  };
  for (auto [field, message] : both) {
    EXPECT_EQ(errorOf(gpt2(field)),
              std::string("config.json:3: ") + message + "\n");
    EXPECT_EQ(errorOf(llama(field)),
              std::string("config.json:4: ") + message + "\n");
  }
  EXPECT_EQ(errorOf(gpt2("\"n_special\": 2")),
            "config.json:3: field 'n_special': does not support special tokens "
            "in addition to the vocabulary yet: expects 0, but got 2\n");
  EXPECT_EQ(errorOf(llama("\"rope_interleaved\": true")),
            "config.json:4: field 'rope_interleaved': does not support "
            "interleaved rotary positions yet\n");
  EXPECT_EQ(errorOf(llama("\"partial_rotary_factor\": 0.5")),
            "config.json:4: field 'partial_rotary_factor': does not support "
            "partial rotary positions yet: expects 1, but got 0.5\n");
  EXPECT_EQ(errorOf(llama("\"partial_rotary_factor\": \"all\"")),
            "config.json:4: field 'partial_rotary_factor': expects a number, "
            "but got the string 'all'\n");
  EXPECT_EQ(errorOf(gpt2("\"rope_interleaved\": false")),
            "config.json:3: expects a field that weft knows for gpt2, but got "
            "'rope_interleaved'\n");
}

/// transformers trains the row of padding of a Llama in no embedding.
TEST_F(ConfigTest, PaddingIsTrained) {
  const std::pair<const char *, const char *> cases[] = {
      {"0", "0"}, {"7", "7"}, {"-1", "7"}};
  for (auto [token, row] : cases) {
    ASSERT_TRUE(load(llama("\"pad_token_id\": " + std::string(token))));
    EXPECT_EQ(messages, "config.json:4: field 'pad_token_id': transformers "
                        "gives row " +
                            std::string(row) +
                            " of the token table no gradient, weft trains it "
                            "like any other\n");
  }
  for (const char *token : {"null", "8", "-9", "\"none\""}) {
    ASSERT_TRUE(load(llama("\"pad_token_id\": " + std::string(token))));
    EXPECT_EQ(messages, "");
  }
}
