//===- PublishedConfigsTest.cpp - Configurations as they are published ----===//
//
// Inputs: test/Frontend/Inputs/hub. Each is a model of a family, or refused
// with a hint that gives the reason and a next step. Twenty are copies of
// published files, the others have their fields from memory and invented
// lists of rotary factors.
//
//===----------------------------------------------------------------------===//

#include "ConfigFixture.h"
#include "TestPaths.h"

#include <map>
#include <set>

namespace fs = std::filesystem;

namespace {
class PublishedConfigsTest : public ConfigTest {
protected:
  static fs::path folderOfConfigs() {
    return fs::path(WEFT_SOURCE) / "test/Frontend/Inputs/hub";
  }
  static std::string pathOf(const std::string &name) {
    return (folderOfConfigs() / (name + ".json")).string();
  }

  PublishedConfigsTest() {
    options.batch = 1;
    options.seq = 4;
  }
};
} // namespace

static const std::set<std::string> kAccepted = {
    "CodeLlama-7b-hf",
    "Llama-2-7b-hf",
    "Llama-3.1-8B-Instruct",
    "Llama-3.2-1B",
    "Mistral-7B-Instruct-v0.3",
    "Mistral-7B-v0.1",
    "Mistral-Nemo-Base-2407",
    "OLMo-2-0425-1B",
    "Phi-3-mini-4k-instruct",
    "Phi-3.5-mini-instruct",
    "Phi-4-mini-instruct",
    "Qwen1.5-0.5B",
    "Qwen2-7B",
    "Qwen2.5-0.5B",
    "Qwen2.5-Coder-7B",
    "Qwen3-0.6B",
    "Qwen3-4B",
    "SmolLM2-135M",
    "SmolLM3-3B",
    "TinyLlama-1.1B",
    "Yi-6B",
    "deepseek-coder-1.3b",
    "gemma-2-2b",
    "gemma-2b",
    "gemma-3-1b-pt",
    "gpt-neox-20b",
    "gpt2-medium",
    "granite-3.0-2b-base",
    "kanana-1.5-2.1b",
    "microsoft-DialoGPT-small",
    "opt-125m",
    "phi-2",
    "phi-4",
    "pythia-1.4b",
    "pythia-70m",
    "stablelm-base-alpha-3b",
    "stablelm-2-1_6b",
    "starcoder2-3b",
};

static const char kExperts[] = "' asks for mixtures of experts, which no";
static const char kEncoderDecoder[] =
    "'is_encoder_decoder' asks for an encoder beside the decoder, which no "
    "family has; take a model of one of the families, or write this one as an "
    ".mlir file";
static const char kEncoder[] = "'type_vocab_size' asks for an encoder, which";
static const char kAlibi[] = "alibi' asks for ALiBi positions, which";
static const char kNearestNeoX[] =
    "the nearest family is gpt_neox, which does not have";

static const std::map<std::string, std::string> kRefused = {
    {"DeepSeek-V2-Lite", kExperts},
    {"DeepSeek-V3", kExperts},
    {"Llama-3.2-1B-bnb-4bit",
     "the weights are quantized (bitsandbytes), which weft does not read; take "
     "the folder of the model before its quantization; "
     "--ignore-field=quantization_config continues without its effect"},
    {"Llama-4-Scout-17B-16E", kExperts},
    {"Mistral-Small-3.1-24B", "its text_config is a model of family mistral; "},
    {"Mixtral-8x7B-v0.1", "'num_local_experts' asks for mixtures of experts, "
                          "which no family has; take a model of one of the "
                          "families\n"},
    {"OLMo-1B-hf", "the nearest family is olmo2, which has all fields of "},
    {"Qwen2-VL-2B-Instruct", "'vision_config' asks for images or sound, which"},
    {"Qwen2.5-7B-Instruct-AWQ", "the weights are quantized (awq), which weft"},
    {"Qwen3-30B-A3B", kExperts},
    {"TheBloke-GPTQ-llama", "the weights are quantized (gptq), which weft"},
    {"bart-base", kEncoderDecoder},
    {"bert-base-uncased", kEncoder},
    {"bloom-560m", kAlibi},
    {"c4ai-command-r-v01", "the nearest family is llama, which does not have "
                           "'layer_norm_eps', 'logit_scale', "
                           "'model_max_length'; a model of another"},
    {"chatglm3-6b", kNearestNeoX},
    {"falcon-7b", kNearestNeoX},
    {"gemma-3-4b-pt",
     "its text_config is a model of family gemma3_text; python3 -c "},
    {"gpt-j-6b", "'rotary_dim' asks for interleaved rotary positions, which"},
    {"gpt-neo-125m", kNearestNeoX},
    {"gpt-oss-20b", kExperts},
    {"llama-7b", "the longest row is 'max_position_embeddings', or"},
    {"llava-1.5-7b-hf", "its text_config is a model of family llama; python3"},
    {"mamba-130m-hf", "'state_size' asks for state-space layers, which no "
                      "family has; take a model of one of the families\n"},
    {"mpt-7b", kAlibi},
    {"roberta-base", kEncoder},
    {"starcoder", kNearestNeoX},
    {"t5-small", kEncoderDecoder},
    {"vit-base-patch16-224", "'image_size' asks for images or sound, which"},
    {"whisper-tiny", kEncoderDecoder},
    {"xgen-or-old-llama-no-kv",
     "transformers may have one: python3 -c \"import sys, transformers as t; "},
};

TEST_F(PublishedConfigsTest, EachIsListed) {
  size_t count = 0;
  for (const fs::directory_entry &file :
       fs::directory_iterator(folderOfConfigs())) {
    const std::string name = file.path().stem().string();
    EXPECT_EQ(kAccepted.count(name) + kRefused.count(name), 1u) << name;
    ++count;
  }
  EXPECT_EQ(count, kAccepted.size() + kRefused.size());
}

TEST_F(PublishedConfigsTest, ModelsOfFamilies) {
  for (const std::string &name : kAccepted)
    EXPECT_TRUE(load(pathOf(name))) << messages;
}

TEST_F(PublishedConfigsTest, OthersAreRefusedWithAHint) {
  for (const auto &[name, hint] : kRefused) {
    EXPECT_FALSE(load(pathOf(name))) << name;
    EXPECT_NE(messages.find(name + ".json:"), std::string::npos) << messages;
    EXPECT_NE(hints.find(hint), std::string::npos) << name << ": " << hints;
  }
}

TEST_F(PublishedConfigsTest, OtherSpellingsOfModelTypes) {
  for (auto [given, name] : {std::pair("GPT2", "gpt2"),
                             {"gpt-neox", "gpt_neox"},
                             {"Gemma3-Text", "gemma3_text"}}) {
    (void)errorOf(write("config.json",
                        std::string("{\"model_type\": \"") + given + "\"}"));
    EXPECT_EQ(hints, std::string("write it as '") + name + "'\n");
  }
}

TEST_F(PublishedConfigsTest, OtherHeads) {
  EXPECT_EQ(
      errorOf(gpt2("\"architectures\": [\"GPT2ForSequenceClassification\"]")),
      "config.json:3: field 'architectures': expects a language model, "
      "but got 'GPT2ForSequenceClassification'\n");
  EXPECT_EQ(hints, "without the field, the file is a language model of family "
                   "gpt2\n");
  for (const char *name : {"GPT2LMHeadModel", "GPT2Model", "LlamaForCausalLM"})
    EXPECT_TRUE(
        load(gpt2(std::string("\"architectures\": [\"") + name + "\"]")))
        << messages;
}

TEST_F(PublishedConfigsTest, UnsetTraits) {
  const std::string file = "{\"model_type\": \"none\", \"alibi\": false,\n"
                           "\"num_experts\": 0, \"rotary_dim\": null,\n"
                           "\"attn_config\": {\"alibi\": false}}";
  (void)errorOf(write("config.json", file));
  EXPECT_EQ(hints.find("asks for"), std::string::npos) << hints;
}
