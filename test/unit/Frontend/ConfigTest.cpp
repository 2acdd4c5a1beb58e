//===- ConfigTest.cpp - Fields of config.json and their errors ------------===//

#include "ConfigFixture.h"

using namespace weft;

TEST_F(ConfigTest, RecordsValuesAndDefaults) {
  ASSERT_TRUE(load(gpt2("\"n_inner\": null, \"attn_pdrop\": 0")));
  EXPECT_EQ(recorded("n_embd"), "{value = 4 : i64}");
  EXPECT_EQ(recorded("n_inner"), "{default, value = 16 : i64}");
  EXPECT_EQ(recorded("attn_pdrop"), "{value = 0.000000e+00 : f64}");
  EXPECT_EQ(recorded("resid_pdrop"), "{default, value = 1.000000e-01 : f64}");
  EXPECT_EQ(recorded("activation_function"), "{default, value = \"gelu_new\"}");
}

TEST_F(ConfigTest, DropoutIsHonoured) {
  ASSERT_TRUE(load(gpt2()));
  EXPECT_EQ(count<DropoutOp>(), 3);
  ASSERT_TRUE(load(gpt2("\"embd_pdrop\": 0, \"resid_pdrop\": 0.0")));
  EXPECT_EQ(count<DropoutOp>(), 0);
  module->walk([](AttentionOp op) {
    bool inModel =
        op->getParentOfType<ProgramOp>().getKind() == ProgramKind::Model;
    EXPECT_EQ(op.getDropout().convertToDouble(), inModel ? 0.1 : 0.0);
  });
}

TEST_F(ConfigTest, AttentionScales) {
  ASSERT_TRUE(load(gpt2("\"n_head\": 1, \"x\": 0")) == nullptr);
  auto scale = [&](const std::string &more) {
    EXPECT_TRUE(load(gpt2(more))) << messages;
    double value = 0;
    module->walk(
        [&](AttentionOp op) { value = op.getScale().convertToDouble(); });
    return value;
  };
  EXPECT_DOUBLE_EQ(scale(""), 1.0 / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(scale("\"scale_attn_weights\": false"), 1.0);
}

TEST_F(ConfigTest, ActivationsAndTies) {
  ASSERT_TRUE(load(gpt2("\"activation_function\": \"relu\", "
                        "\"tie_word_embeddings\": false")));
  EXPECT_EQ(count<ReluOp>(), 2);
  for (ParamOp param : module->getOps<ParamOp>())
    EXPECT_FALSE(param.getTie());
  ASSERT_TRUE(load(llama("\"tie_word_embeddings\": true")));
  auto head = mlir::SymbolTable::lookupSymbolIn(*module, "lm_head.weight");
  EXPECT_EQ(*llvm::cast<ParamOp>(head).getTie(), "model.embed_tokens.weight");
}

TEST_F(ConfigTest, LlamaBiasesAndHeadDim) {
  ASSERT_TRUE(load(llama("\"attention_bias\": true, \"mlp_bias\": true, "
                         "\"head_dim\": 6, \"num_key_value_heads\": 1")))
      << messages;
  auto type = [&](llvm::StringRef name) {
    auto param =
        llvm::cast<ParamOp>(mlir::SymbolTable::lookupSymbolIn(*module, name));
    return param.getTensorType().getShape();
  };
  EXPECT_EQ(type("model.layers.0.self_attn.k_proj.weight"),
            llvm::ArrayRef<int64_t>({6, 8}));
  EXPECT_EQ(type("model.layers.0.self_attn.o_proj.weight"),
            llvm::ArrayRef<int64_t>({8, 12}));
  EXPECT_EQ(type("model.layers.0.mlp.down_proj.bias"),
            llvm::ArrayRef<int64_t>({8}));
}

/// Both spellings give the same tables.
TEST_F(ConfigTest, RopeSpellings) {
  const std::string scaled =
      "\"factor\": 2, \"low_freq_factor\": 1, \"high_freq_factor\": 4, "
      "\"original_max_position_embeddings\": 16}";
  ASSERT_TRUE(load(llama("\"rope_theta\": 500, \"rope_scaling\": "
                         "{\"rope_type\": \"llama3\", " +
                         scaled)))
      << messages;
  std::vector<mlir::Attribute> first, second;
  module->walk([&](ConstantOp op) { first.push_back(op.getValue()); });
  ASSERT_TRUE(load(llama("\"rope_parameters\": {\"rope_theta\": 500, "
                         "\"rope_type\": \"llama3\", " +
                         scaled)))
      << messages;
  module->walk([&](ConstantOp op) { second.push_back(op.getValue()); });
  EXPECT_EQ(first.size(), 4u);
  EXPECT_EQ(first, second);
  EXPECT_EQ(recorded("rope_parameters.factor"), "{value = 2.000000e+00 : f64}");
  ASSERT_TRUE(load(llama("\"rope_scaling\": {\"type\": \"default\"}")))
      << messages;
}

TEST_F(ConfigTest, SizesOfRunsAreChecked) {
  options.seq = 5;
  EXPECT_EQ(errorOf(gpt2()), "config.json:0: expects --seq from 1 to the "
                             "model's context of 4, but got 5\n");
  options.seq = 4;
  options.batch = int64_t(1) << 40;
  EXPECT_EQ(errorOf(gpt2()),
            "config.json:0: expects --batch from 1 to 536870912 with --seq=4, "
            "but got 1099511627776\n");
}

/// A batch whose logits, or another value, would have more than 2^44 bytes.
TEST_F(ConfigTest, SizesOfValuesAreChecked) {
  const std::string wide = gpt2("\"n_inner\": 16777216");
  options.batch = 65536;
  EXPECT_TRUE(load(wide)) << messages;
  options.batch = 65537;
  EXPECT_EQ(errorOf(wide), "config.json:0: expects --batch from 1 to 65536 "
                           "with --seq=4, but got 65537\n");
  const std::string many =
      write("config.json",
            "{\"model_type\": \"llama\", \"vocab_size\": 8, "
            "\"hidden_size\": 1, \"intermediate_size\": 6, "
            "\"num_hidden_layers\": 1, \"num_attention_heads\": 16777216, "
            "\"head_dim\": 65536, \"max_position_embeddings\": 16}");
  options.batch = 1;
  options.seq = 5;
  EXPECT_EQ(errorOf(many),
            "config.json:0: expects --seq from 1 to 4 with values of "
            "1099511627776 elements a token, but got 5\n");
}

/// Parameters of more than 2^44 bytes.
TEST_F(ConfigTest, SizesOfParametersAreChecked) {
  options.seq = 1;
  options.batch = 1;
  EXPECT_EQ(errorOf(write("config.json",
                          "{\"model_type\": \"gpt2\", \"vocab_size\": 8, "
                          "\"n_positions\": 4, \"n_layer\": 1, "
                          "\"n_head\": 2, \"n_embd\": 16777216}")),
            "'weft.param' op expects a tensor of at most 2^44 "
            "bytes, but got 'tensor<16777216x50331648xf32>'\n");
}

TEST_F(ConfigTest, UnknownFields) {
  EXPECT_EQ(errorOf(gpt2("\"n_ctx\": 4,\n\"n_experts\": 4")),
            "config.json:4: expects a field that weft knows for gpt2, but got "
            "'n_experts'\n");
  options.ignoreFields = {"n_experts"};
  EXPECT_TRUE(load(gpt2("\"n_experts\": 4")));
  options.ignoreFields = {"rope_scaling.beta"};
  EXPECT_TRUE(load(llama("\"rope_scaling\": {\"rope_type\": \"default\", "
                         "\"beta\": 1}")))
      << messages;
  options.ignoreFields.clear();
  EXPECT_EQ(errorOf(llama("\"rope_scaling\": {\"rope_type\": \"default\",\n"
                          "\"gamma\": 1}")),
            "config.json:5: expects a field that weft knows for llama, but got "
            "'rope_scaling.gamma'\n");
}

TEST_F(ConfigTest, MissingSizes) {
  EXPECT_EQ(errorOf(write("config.json",
                          "{\"model_type\": \"gpt2\", \"vocab_size\": 8,\n"
                          "\"n_positions\": 4, \"n_layer\": 1, "
                          "\"n_head\": null}")),
            "config.json:1: expects field 'n_embd', a size that has no "
            "default\n"
            "config.json:2: expects field 'n_head', a size that has no "
            "default\n");
}

TEST_F(ConfigTest, ModelTypes) {
  const std::string names =
      "gpt2 llama mistral qwen2 qwen3 gemma gemma2 gemma3_text phi3 smollm3 "
      "olmo2 gpt_neox starcoder2 opt phi granite stablelm";
  EXPECT_EQ(errorOf(write("config.json", "{\n\"model_type\": \"bert\"}")),
            "config.json:2: field 'model_type': expects one of " + names +
                ", but got 'bert'\n");
  EXPECT_EQ(errorOf(write("config.json", "{}")),
            "config.json:1: expects field 'model_type', one of " + names +
                "\n");
  EXPECT_EQ(errorOf(write("config.json", "[]")),
            "config.json:1: expects an object of config fields\n");
  EXPECT_EQ(errorOf(write("config.json", "{\"model_type\": 3}")),
            "config.json:1: field 'model_type': expects a string, but got 3\n");
}

TEST_F(ConfigTest, BadValues) {
  const std::pair<const char *, const char *> cases[] = {
      {"\"resid_pdrop\": 1.5",
       "field 'resid_pdrop': expects a number in [0.0, 0.999999], but got 1.5"},
      {"\"scale_attn_weights\": 1",
       "field 'scale_attn_weights': expects true or false, but got 1"},
      {"\"activation_function\": \"mish\"",
       "field 'activation_function': expects one of gelu gelu_fast gelu_new "
       "gelu_pytorch_tanh relu silu swish tanh sigmoid, but got 'mish'"},
      {"\"add_cross_attention\": true",
       "field 'add_cross_attention': does not support cross attention yet"},
      {"\"is_encoder_decoder\": true",
       "field 'is_encoder_decoder': does not support encoder-decoder models "
       "yet"},
      {"\"torch_dtype\": \"int8\"",
       "field 'torch_dtype': expects float32, float16 or bfloat16, but got "
       "'int8'"},
  };
  for (auto [field, message] : cases)
    EXPECT_EQ(errorOf(gpt2(field)),
              std::string("config.json:3: ") + message + "\n");
}

TEST_F(ConfigTest, SizesThatDoNotFitTogether) {
  EXPECT_EQ(errorOf(write("config.json",
                          "{\"model_type\": \"gpt2\", \"vocab_size\": 8,\n"
                          "\"n_positions\": 4, \"n_layer\": 1, \"n_embd\": 4,\n"
                          "\"n_head\": 3}")),
            "config.json:3: field 'n_head': expects a divisor of n_embd = 4, "
            "but got 3\n");
  EXPECT_EQ(errorOf(llama("\"num_key_value_heads\": 4")),
            "config.json:4: field 'num_key_value_heads': expects a divisor of "
            "num_attention_heads = 2, but got 4\n");
  EXPECT_EQ(errorOf(llama("\"head_dim\": 3")),
            "config.json:4: field 'head_dim': expects an even number, but got "
            "3\n");
  EXPECT_EQ(errorOf(write("config.json",
                          "{\"model_type\": \"llama\", \"vocab_size\": 8,\n"
                          "\"hidden_size\": 8, \"intermediate_size\": 6,\n"
                          "\"num_hidden_layers\": 1, "
                          "\"max_position_embeddings\": 4,\n"
                          "\"num_attention_heads\": 3}")),
            "config.json:4: field 'num_attention_heads': expects a divisor of "
            "hidden_size = 8 or a head_dim, but got 3\n");
}

TEST_F(ConfigTest, BadRope) {
  const std::pair<const char *, const char *> cases[] = {
      {"\"rope_scaling\": {\"rope_type\": \"ntk\"}",
       "field 'rope_scaling.rope_type': expects one of rope types default "
       "longrope linear dynamic llama3 yarn, but got 'ntk'"},
      {"\"rope_scaling\": 3",
       "field 'rope_scaling': expects an object, but got 3"},
      {"\"rope_scaling\": {}, \"rope_parameters\": {}",
       "expects rope_scaling or rope_parameters, but got both"},
      {"\"rope_theta\": 10, \"rope_parameters\": {\"rope_theta\": 20}",
       "field 'rope_parameters.rope_theta': expects the value of rope_theta "
       "outside, 10.0, but got 20.0"},
      {"\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 2, "
       "\"low_freq_factor\": 4, \"high_freq_factor\": 4, "
       "\"original_max_position_embeddings\": 16}",
       "field 'rope_scaling.high_freq_factor': expects more than "
       "low_freq_factor = 4.0, but got 4.0"},
      {"\"rope_scaling\": {\"rope_type\": \"llama3\", \"low_freq_factor\": 1, "
       "\"high_freq_factor\": 4, \"original_max_position_embeddings\": 16}",
       "expects field 'rope_scaling.factor'"},
  };
  for (auto [field, message] : cases)
    EXPECT_EQ(errorOf(llama(field)),
              std::string("config.json:4: ") + message + "\n");
}

TEST_F(ConfigTest, BadFiles) {
  EXPECT_EQ(errorOf((folder / "gone.json").string()),
            "gone.json:0: cannot open: no such file or directory\n");
  EXPECT_EQ(
      errorOf(write("model.onnx", "")),
      "model.onnx:0: expects a model: an .mlir file, a config.json, a "
      "folder with config.json, or a .gguf file, but got an empty file\n");
  EXPECT_EQ(errorOf(write("model", "GGUF\3")),
            "model:0: expects a model: an .mlir file, a config.json, a folder "
            "with config.json, or a .gguf file, but got a GGUF file "
            "(llama.cpp)\n");
  EXPECT_NE(errorOf(write("config.json", "{\n\"model_type\" 3}"))
                .find("config.json:2: "),
            std::string::npos);
  EXPECT_NE(errorOf(write("config.json", "{\"model_type\": \"gpt2\",\n"
                                         "\"model_type\": \"llama\"}"))
                .find("config.json:2: "),
            std::string::npos);
}
