//===- GgufFamiliesTest.cpp - Configurations and keys of architectures ----===//

#include "weft/Formats/GgufFamilies.h"

#include "../Base/TestSupport.h"
#include "GgufBytes.h"

#include "weft/Formats/GgufWriter.h"

#include <deque>

using namespace weft;

namespace {

/// Metadata as a file without tensors.
Expected<GgufFile> fileOf(const GgufMetadata &metadata) {
  std::string bytes = "GGUF";
  const auto append = [&](auto value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
  };
  append(uint32_t(3));
  append(uint64_t(0));
  append(metadata.count());
  bytes += metadata.bytes();
  bytes.append((32 - bytes.size() % 32) % 32, '\0');
  static std::deque<std::string> kept; // MemoryBytes does not copy
  kept.push_back(bytes);
  return GgufFile::open(std::make_unique<MemoryBytes>(
      reinterpret_cast<const uint8_t *>(kept.back().data()),
      static_cast<int64_t>(kept.back().size()), "m"));
}

Json parsed(const std::string &text) { return *parseJson(text, "config"); }

/// A configuration with the sizes that every file has.
Json configOf(const char *modelType, const std::string &more = "") {
  return parsed(std::string(R"({"model_type": ")") + modelType +
                R"(", "vocab_size": 40, "max_position_embeddings": 64,
                "hidden_size": 32, "intermediate_size": 48,
                "num_hidden_layers": 4, "num_attention_heads": 4)" +
                more + "}");
}

/// The error of a configuration that cannot be written, "" for another.
std::string refusal(const Json &config) {
  const GgufFamily *family =
      familyOfModelType(config.find("model_type")->asString());
  auto made = ggufMetadata(*family, config);
  return made ? "" : std::string(made.error().message());
}

/// The configuration that the keys of another one stand for.
Json throughKeys(const Json &config) {
  const GgufFamily *family =
      familyOfModelType(config.find("model_type")->asString());
  auto made = ggufMetadata(*family, config);
  EXPECT_TRUE(made) << (made ? "" : made.error().message());
  if (!made)
    return Json::object();
  auto file = fileOf(*made);
  EXPECT_TRUE(file) << (file ? "" : file.error().message());
  auto again = ggufConfig(*file);
  EXPECT_TRUE(again) << (again ? "" : again.error().message());
  return again ? *again : Json::object();
}

std::string field(const Json &config, const char *name) {
  const Json *value = config.find(name);
  return value ? value->compact() : "";
}

TEST(GgufFamilies, DefaultsOfTransformersBecomeKeys) {
  const Json qwen3 = throughKeys(configOf("qwen3"));
  EXPECT_EQ(field(qwen3, "head_dim"), "128");
  EXPECT_EQ(field(qwen3, "num_key_value_heads"), "32");
  const Json gemma =
      throughKeys(configOf("gemma2", R"(, "query_pre_attn_scalar": 256)"));
  EXPECT_EQ(field(gemma, "head_dim"), "256");
  EXPECT_EQ(field(gemma, "attn_logit_softcapping"), "50.0");
  EXPECT_EQ(field(gemma, "sliding_window"), "4096");
  const Json neox = throughKeys(configOf("gpt_neox"));
  EXPECT_EQ(field(neox, "rotary_pct"), "0.25");
  EXPECT_EQ(field(neox, "use_parallel_residual"), "true");
  // A null means as many key heads as query heads.
  EXPECT_EQ(
      field(throughKeys(configOf("qwen2", R"(, "num_key_value_heads": null)")),
            "num_key_value_heads"),
      "4");
}

TEST(GgufFamilies, Mistral) {
  const Json read = throughKeys(configOf("mistral"));
  EXPECT_EQ(field(read, "model_type"), R"("llama")");
  EXPECT_EQ(field(read, "num_key_value_heads"), "8");
  EXPECT_NE(refusal(configOf("mistral", R"(, "sliding_window": 16)"))
                .find("field 'sliding_window': expects null or at least the "
                      "context of 64"),
            std::string::npos);
}

TEST(GgufFamilies, Scalings) {
  const Json linear = throughKeys(configOf(
      "llama", R"(, "rope_scaling": {"type": "linear", "factor": 2.5})"));
  EXPECT_EQ(field(linear, "rope_scaling"),
            R"({"rope_type":"linear","factor":2.5})");
  const Json yarn = throughKeys(configOf("qwen2", R"(, "rope_parameters":
      {"rope_type": "yarn", "rope_theta": 700.0, "factor": 4.0,
       "original_max_position_embeddings": 16, "attention_factor": 1.5,
       "beta_fast": 16.0})"));
  EXPECT_EQ(field(yarn, "rope_theta"), "700.0");
  EXPECT_EQ(field(yarn, "rope_scaling"),
            R"({"rope_type":"yarn","factor":4.0,)"
            R"("original_max_position_embeddings":16,)"
            R"("attention_factor":1.5,"beta_fast":16.0})");
  EXPECT_NE(refusal(configOf("llama", R"(, "rope_scaling":
                {"rope_type": "dynamic", "factor": 2.0})"))
                .find("field 'rope_type': expects one of default, linear, "
                      "yarn, llama3"),
            std::string::npos);
  EXPECT_NE(refusal(configOf("qwen2", R"(, "rope_scaling":
                {"rope_type": "llama3", "factor": 2.0})"))
                .find("expects one of default, linear, yarn, since"),
            std::string::npos);
}

TEST(GgufFamilies, WindowsOfGemma3) {
  const char *scalar = R"(, "head_dim": 8, "query_pre_attn_scalar": 8)";
  const Json usual = throughKeys(configOf("gemma3_text", scalar));
  EXPECT_EQ(field(usual, "layer_types"), "");
  EXPECT_EQ(field(usual, "sliding_window"), "4096");
  const Json every2 = throughKeys(
      configOf("gemma3_text",
               std::string(scalar) + R"(, "layer_types": ["sliding_attention",
               "full_attention", "sliding_attention", "full_attention"])"));
  EXPECT_EQ(field(every2, "layer_types"),
            R"(["sliding_attention","full_attention",)"
            R"("sliding_attention","full_attention"])");
  EXPECT_EQ(field(every2, "sliding_window_pattern"), "");
  const Json none = throughKeys(configOf(
      "gemma3_text", std::string(scalar) + R"(, "sliding_window_pattern": 1)"));
  EXPECT_EQ(field(none, "sliding_window"), "null");
  EXPECT_NE(
      refusal(configOf("gemma3_text", std::string(scalar) +
                                          R"(, "layer_types": ["full_attention",
                           "sliding_attention", "full_attention",
                           "full_attention"])"))
          .find("field 'layer_types': expects full attention in each N-th"),
      std::string::npos);
}

TEST(GgufFamilies, FieldsWithoutAPlace) {
  for (auto [config, text] :
       {std::pair(configOf("qwen3", R"(, "attention_bias": true)"),
                  "field 'attention_bias': expects false, since"),
        std::pair(configOf("llama", R"(, "hidden_act": "relu")"),
                  "field 'hidden_act': expects \"silu\", since"),
        std::pair(configOf("gemma2", R"(, "query_pre_attn_scalar": 144)"),
                  "field 'query_pre_attn_scalar': expects 256, since"),
        std::pair(configOf("gemma2", R"(, "final_logit_softcapping": null)"),
                  "field 'final_logit_softcapping': expects a number"),
        std::pair(configOf("smollm3", R"(, "no_rope_layer_interval": 2)"),
                  "field 'no_rope_layer_interval': expects 4"),
        std::pair(configOf("gemma", R"(, "tie_word_embeddings": false)"),
                  "field 'tie_word_embeddings': expects true")})
    EXPECT_NE(refusal(config).find(text), std::string::npos) << refusal(config);
}

/// A file of an architecture with the sizes that every file has.
class GgufKeysTest : public ::testing::Test {
protected:
  void make(const std::string &architecture) {
    name = architecture;
    made.string("general.architecture", name);
    for (auto [key, value] :
         {std::pair("vocab_size", 40u), std::pair("context_length", 64u),
          std::pair("embedding_length", 32u), std::pair("block_count", 4u),
          std::pair("feed_forward_length", 48u),
          std::pair("attention.head_count", 4u)})
      made.integer(name + "." + key, value);
    for (const char *key : {"rms_", ""})
      made.number(name + ".attention.layer_norm_" + key + "epsilon", 1e-5f);
  }

  std::string read() {
    bytes = made.bytes();
    auto file = GgufFile::open(std::make_unique<MemoryBytes>(
        reinterpret_cast<const uint8_t *>(bytes.data()),
        static_cast<int64_t>(bytes.size()), "m"));
    if (!file)
      return std::string(file.error().message());
    auto result = ggufConfig(*file);
    if (!result)
      return std::string(result.error().message());
    config = std::move(*result);
    return "";
  }

  GgufBytes made;
  std::string name, bytes;
  Json config = Json::object();
};

TEST_F(GgufKeysTest, Gemma3) {
  make("gemma3");
  made.number("gemma3.rope.freq_base", 1e6f);
  made.integer("gemma3.attention.key_length", 16);
  EXPECT_EQ(read(), "");
  EXPECT_EQ(field(config, "query_pre_attn_scalar"), "16");
  EXPECT_EQ(field(config, "sliding_window"), "null");
  EXPECT_EQ(field(config, "num_key_value_heads"), "4");
  made.integer("gemma3.attention.sliding_window", 8);
  EXPECT_EQ(read(), "");
  EXPECT_EQ(field(config, "layer_types"), "");
  made.integer("gemma3.attention.sliding_window_pattern", 0);
  EXPECT_NE(read().find("expects an integer of at least 1, but got 0"),
            std::string::npos);
}

TEST_F(GgufKeysTest, WindowsOfGemma2) {
  make("gemma2");
  made.integer("gemma2.attention.sliding_window_pattern", 3);
  EXPECT_EQ(read(), "");
  EXPECT_EQ(field(config, "sliding_window_pattern"), "");
  EXPECT_EQ(field(config, "layer_types"),
            R"(["sliding_attention","sliding_attention",)"
            R"("full_attention","sliding_attention"])");
}

TEST_F(GgufKeysTest, WindowsOfEachLayer) {
  make("gemma2");
  const GgufBytes right = made;
  made.booleans("gemma2.attention.sliding_window_pattern",
                {false, true, true, false});
  EXPECT_EQ(read(), "");
  EXPECT_EQ(field(config, "layer_types"),
            R"(["full_attention","sliding_attention",)"
            R"("sliding_attention","full_attention"])");
  made = right;
  made.booleans("gemma2.attention.sliding_window_pattern", {false, true});
  EXPECT_NE(read().find("expects an element for each of 4 layers, but got 2"),
            std::string::npos);
  made = right;
  made.value("gemma2.attention.sliding_window_pattern", 9,
             GgufBytes::array(8, 1, GgufBytes::text("a")));
  EXPECT_NE(read().find("expects an array of bool, but got an array of string"),
            std::string::npos);
}

TEST_F(GgufKeysTest, RotaryWidth) {
  make("gptneox");
  EXPECT_EQ(read(), "");
  EXPECT_EQ(field(config, "rotary_pct"), "1.0");
  made.integer("gptneox.rope.dimension_count", 2);
  EXPECT_EQ(read(), "");
  EXPECT_EQ(field(config, "rotary_pct"), "0.25");
}

TEST_F(GgufKeysTest, RotaryWidthBeyondTheHead) {
  make("phi3");
  made.integer("phi3.rope.dimension_count", 9);
  EXPECT_NE(read().find("expects an integer from 1 to the width of a head, 8, "
                        "but got 9"),
            std::string::npos);
}

TEST_F(GgufKeysTest, Phi3Windows) {
  make("phi3");
  made.integer("phi3.attention.sliding_window", 0);
  EXPECT_EQ(read(), "");
  EXPECT_EQ(field(config, "sliding_window"), "null");
}

TEST_F(GgufKeysTest, LongRope) {
  make("phi3");
  made.integer("phi3.rope.scaling.original_context_length", 16);
  made.number("phi3.rope.scaling.attn_factor", 1.5f);
  const float factors[4] = {1, 2.5f, 3, 4};
  const std::string raw(reinterpret_cast<const char *>(factors),
                        sizeof factors);
  made.filled("rope_factors_long.weight", 0, {4}, raw);
  EXPECT_NE(read().find("expects tensor 'rope_factors_short.weight' with the "
                        "rotary scaling longrope, but there is none"),
            std::string::npos);
  made.filled("rope_factors_short.weight", 0, {4}, raw);
  EXPECT_EQ(read(), "");
  EXPECT_EQ(field(config, "rope_scaling"),
            R"({"rope_type":"longrope","long_factor":[1.0,2.5,3.0,4.0],)"
            R"("short_factor":[1.0,2.5,3.0,4.0],"attention_factor":1.5})");
}

TEST_F(GgufKeysTest, ScalingsThatTransformersDoesNotHave) {
  make("llama");
  made.string("llama.rope.scaling.type", "yarn");
  made.number("llama.rope.scaling.factor", 4);
  EXPECT_EQ(read(), "");
  made.number("llama.rope.scaling.yarn_ext_factor", 0.5f);
  EXPECT_NE(read().find("expects 1 with this rotary scaling, but got 0.5"),
            std::string::npos);
}

TEST_F(GgufKeysTest, AFactorWithoutATypeIsLinear) {
  make("llama");
  made.number("llama.rope.scaling.factor", 4);
  EXPECT_EQ(read(), "");
  EXPECT_EQ(field(config, "rope_scaling"),
            R"({"rope_type":"linear","factor":4.0})");
}

TEST(GgufFamilies, RotaryFactorsAreNumbers) {
  const auto tableError = [](const char *type, const char *scaling,
                             const char *table) {
    const Json config = configOf(type, std::string(R"(, "head_dim": 8,
        "rope_scaling": )") + scaling);
    auto made = ggufTable(*familyOfModelType(type), config, table);
    return made ? std::string() : made.error().message();
  };
  EXPECT_EQ(tableError("phi3",
                       R"({"type": "longrope", "long_factor": [1.0, "2"]})",
                       "rope_factors_long.weight"),
            "field 'rope_scaling.long_factor[1]': expects a number, but got "
            "\"2\"");
  EXPECT_EQ(tableError("llama", R"({"rope_type": "llama3", "factor": "8"})",
                       "rope_freqs.weight"),
            "field 'rope_scaling.factor': expects a number, but got \"8\"");
  EXPECT_EQ(tableError("llama", R"({"rope_type": "llama3", "factor": null})",
                       "rope_freqs.weight"),
            "");
  EXPECT_EQ(refusal(configOf("llama", R"(, "rope_scaling":
                {"rope_type": "linear", "factor": [4]})")),
            "field 'rope_scaling.factor': expects a number, but got [4]");
  EXPECT_EQ(refusal(configOf("llama", R"(, "rope_scaling":
                {"rope_type": "yarn", "beta_fast": true})")),
            "field 'rope_scaling.beta_fast': expects a number, but got true");
}

TEST_F(GgufKeysTest, GraniteNeedsItsScales) {
  make("granite");
  EXPECT_EQ(read(), "expects key 'granite.attention.scale', but there is none");
}

} // namespace
