//===- GgufModelTest.cpp - Models of GGUF files ---------------------------===//

#include "../Formats/GgufBytes.h"
#include "Fixture.h"

using namespace weft;

namespace {

/// A llama of one block and width 8 with two heads.
class GgufModelTest : public FrontendTest {
protected:
  GgufModelTest() {
    made.string("general.architecture", "llama");
    for (auto [key, value] :
         {std::pair("context_length", 16u), std::pair("embedding_length", 8u),
          std::pair("block_count", 1u), std::pair("feed_forward_length", 12u),
          std::pair("attention.head_count", 2u)})
      made.integer(std::string("llama.") + key, value);
    made.number("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    add("token_embd.weight", {8, 10});
    add("output_norm.weight", {8});
    for (const char *name : {"attn_norm", "ffn_norm"})
      add(std::string("blk.0.") + name + ".weight", {8});
    for (const char *name : {"attn_q", "attn_k", "attn_v", "attn_output"})
      add(std::string("blk.0.") + name + ".weight", {8, 8});
    for (const char *name : {"ffn_gate", "ffn_up"})
      add(std::string("blk.0.") + name + ".weight", {8, 12});
    add("blk.0.ffn_down.weight", {12, 8});
  }

  void add(const std::string &name, const std::vector<uint64_t> &sizes) {
    uint64_t bytes = 4;
    for (uint64_t size : sizes)
      bytes *= size;
    made.filled(name, 0, sizes, std::string(bytes, '\0'));
  }

  std::string loadError() {
    EXPECT_FALSE(load(write("m.gguf", made.bytes())));
    return messages;
  }

  mlir::Attribute field(const char *name) {
    auto config = (*module)->getAttrOfType<mlir::DictionaryAttr>("weft.config");
    auto entry = config.getAs<mlir::DictionaryAttr>(name);
    return entry ? entry.get("value") : mlir::Attribute();
  }

  GgufBytes made;
};

TEST_F(GgufModelTest, ConfigurationAndFiles) {
  made.string("tokenizer.ggml.model", "gpt2");
  made.value("tokenizer.ggml.tokens", 9, GgufBytes::array(8, 0, ""));
  ASSERT_TRUE(load(write("m.gguf", made.bytes()))) << messages;
  EXPECT_EQ(messages, "");
  EXPECT_EQ(
      llvm::cast<mlir::FloatAttr>(field("rms_norm_eps")).getValueAsDouble(),
      1e-5);
  EXPECT_EQ(llvm::cast<mlir::IntegerAttr>(field("vocab_size")).getInt(), 10);
  EXPECT_TRUE(
      llvm::cast<mlir::BoolAttr>(field("tie_word_embeddings")).getValue());
  EXPECT_EQ(
      (*module)->getAttrOfType<mlir::ArrayAttr>("weft.tokenizer_files").size(),
      1u);
  for (const char *name : {"weft.weights", "weft.companion_files"}) {
    auto files = (*module)->getAttrOfType<mlir::ArrayAttr>(name);
    ASSERT_TRUE(files && files.size() == 1) << name;
    EXPECT_EQ(
        llvm::cast<mlir::DictionaryAttr>(files[0]).getAs<mlir::StringAttr>(
            "name"),
        "m.gguf");
  }
  EXPECT_EQ(modelFiles((folder / "m.gguf").string()).size(), 1u);
}

TEST_F(GgufModelTest, ANewHeadIsNotTied) {
  add("output.weight", {8, 10});
  ASSERT_TRUE(load(write("m.GGUF", made.bytes()))) << messages;
  EXPECT_FALSE(
      llvm::cast<mlir::BoolAttr>(field("tie_word_embeddings")).getValue());
}

TEST_F(GgufModelTest, UnknownKeysAreUnknownFields) {
  made.integer("llama.logit_scale", 3);
  EXPECT_EQ(loadError(), "m.gguf:0: expects a field that weft knows for llama, "
                         "but got 'llama.logit_scale'\n");
  options.ignoreFields = {"llama.logit_scale"};
  EXPECT_TRUE(load(write("m.gguf", made.bytes()))) << messages;
}

TEST_F(GgufModelTest, WrongValues) {
  const GgufBytes right = made;
  made.integer("llama.rope.dimension_count", 2);
  EXPECT_NE(loadError().find("key 'llama.rope.dimension_count' at byte "),
            std::string::npos);
  EXPECT_NE(messages.find("expects the value of head_dim, 4, but got 2"),
            std::string::npos);
  made = right;
  made.integer("llama.expert_count", 8);
  EXPECT_NE(loadError().find("does not support mixtures of experts yet: "
                             "expects 0, but got 8"),
            std::string::npos);
  made = right;
  made.integer("split.count", 2);
  EXPECT_NE(loadError().find("does not support models of several files yet"),
            std::string::npos);
  made = right;
  made.string("llama.rope.scaling.type", "spiral");
  EXPECT_NE(loadError().find("expects one of rope types"), std::string::npos);
}

TEST_F(GgufModelTest, WrongTensors) {
  const GgufBytes right = made;
  add("blk.0.attn_sinks.weight", {8});
  EXPECT_EQ(loadError(), "m.gguf:0: expects only tensors of the model, but got "
                         "'blk.0.attn_sinks.weight'\n");
  made = right;
  made.filled("output.weight", 10, {256}, std::string(84, '\0'));
  EXPECT_NE(loadError().find("tensor 'output.weight': expects type F32, F16"),
            std::string::npos);
  made = right;
  add("rope_freqs.weight", {2});
  EXPECT_NE(loadError().find("tensor 'rope_freqs.weight': expects divisors of "
                             "the scaling llama3"),
            std::string::npos);
}

} // namespace
