//===- WeightsTest.cpp - Weights beside a configuration -------------------===//

#include "Fixture.h"
#include "weft/Formats/Safetensors.h"

using namespace weft;

namespace {
/// A one-layer GPT-2 of width 4 with weights that a test may spoil.
class WeightsTest : public FrontendTest {
protected:
  WeightsTest() {
    write("config.json",
          R"({"model_type": "gpt2", "vocab_size": 8, "n_positions": 4,
              "n_embd": 4, "n_layer": 1, "n_head": 2})");
    specs = {{"wte.weight", weft::TensorType::F32, {8, 4}},
             {"wpe.weight", weft::TensorType::F16, {4, 4}},
             {"h.0.ln_1.weight", weft::TensorType::BF16, {4}},
             {"h.0.ln_1.bias", weft::TensorType::F32, {4}},
             {"h.0.attn.bias", weft::TensorType::U8, {1, 1, 4, 4}},
             {"h.0.attn.c_attn.weight", weft::TensorType::F32, {4, 12}},
             {"h.0.attn.c_attn.bias", weft::TensorType::F32, {12}},
             {"h.0.attn.c_proj.weight", weft::TensorType::F32, {4, 4}},
             {"h.0.attn.c_proj.bias", weft::TensorType::F32, {4}},
             {"h.0.ln_2.weight", weft::TensorType::F32, {4}},
             {"h.0.ln_2.bias", weft::TensorType::F32, {4}},
             {"h.0.mlp.c_fc.weight", weft::TensorType::F32, {4, 16}},
             {"h.0.mlp.c_fc.bias", weft::TensorType::F32, {16}},
             {"h.0.mlp.c_proj.weight", weft::TensorType::F32, {16, 4}},
             {"h.0.mlp.c_proj.bias", weft::TensorType::F32, {4}},
             {"ln_f.weight", weft::TensorType::F32, {4}},
             {"ln_f.bias", weft::TensorType::F32, {4}}};
  }

  /// `fill` gives the bytes of the tensor of that index.
  void save(const std::string &name = "model.safetensors", int fill = 0) {
    auto writer = SafetensorsWriter::create((folder / name).string(), specs);
    ASSERT_TRUE(writer);
    for (const TensorSpec &spec : specs) {
      int64_t bytes =
          *countElements(spec.shape) * tensorTypeBits(spec.type) / 8;
      std::string data(bytes, static_cast<char>(fill));
      ASSERT_TRUE(writer->writeTensor(spec.name, data.data(), bytes));
    }
    ASSERT_TRUE(writer->finish());
  }

  std::string loadError() {
    EXPECT_FALSE(load(folder.string()));
    const std::string name = folder.filename().string();
    if (size_t at = messages.find(name + ":0"); at != messages.npos)
      messages.replace(at, name.size(), "FOLDER");
    return messages;
  }

  std::vector<TensorSpec> specs;
};
} // namespace

TEST_F(WeightsTest, RecordsFilesAndNames) {
  save();
  ASSERT_TRUE(load(folder.string())) << messages;
  auto param = llvm::cast<ParamOp>(
      mlir::SymbolTable::lookupSymbolIn(*module, "transformer.wte.weight"));
  EXPECT_EQ(*param.getSource(), "wte.weight");
  auto files = (*module)->getAttrOfType<mlir::ArrayAttr>("weft.weights");
  ASSERT_TRUE(files);
  ASSERT_EQ(files.size(), 1u);
  auto file = llvm::cast<mlir::DictionaryAttr>(files[0]);
  EXPECT_EQ(file.getAs<mlir::StringAttr>("name"), "model.safetensors");
  EXPECT_EQ(file.getAs<mlir::StringAttr>("xxh3").size(), 32u);
}

TEST_F(WeightsTest, WithPrefixNamesAreTheSymbols) {
  for (TensorSpec &spec : specs)
    spec.name = "transformer." + spec.name;
  save();
  ASSERT_TRUE(load(folder.string())) << messages;
  for (ParamOp param : module->getOps<ParamOp>())
    EXPECT_FALSE(param.getSource());
}

/// The prefixes of torch.compile and DistributedDataParallel.
TEST_F(WeightsTest, WrappersAreTakenOff) {
  const std::vector<TensorSpec> plain = specs;
  for (const std::string prefix : {"_orig_mod.", "module.", "module._orig_mod.",
                                   "_orig_mod.module.", "module.module."}) {
    specs = plain;
    for (TensorSpec &spec : specs)
      spec.name = prefix + spec.name;
    save();
    ASSERT_TRUE(load(folder.string())) << messages;
    EXPECT_EQ(std::filesystem::path(messages).filename().string(),
              folder.filename().string() + ":0: takes '" + prefix +
                  "' off the names of all tensors\n");
    for (ParamOp param : module->getOps<ParamOp>())
      if (!param.getTie()) {
        EXPECT_EQ("transformer." + param.getSource()->str(),
                  param.getSymName());
      }
  }
}

/// A name that only looks like a wrapper's, or is one of some tensors.
TEST_F(WeightsTest, WrappersOfSomeTensorsStay) {
  specs[0].name = "module.wte.weight";
  save();
  EXPECT_NE(loadError().find("'module.wte.weight'"), std::string::npos)
      << messages;
  EXPECT_EQ(messages.find("takes '"), std::string::npos) << messages;
}

TEST_F(WeightsTest, NoWeightsWhenNotWanted) {
  specs.pop_back();
  save();
  options.weights = false;
  ASSERT_TRUE(load(folder.string())) << messages;
  EXPECT_FALSE((*module)->hasAttr("weft.weights"));
}

TEST_F(WeightsTest, ReadsAnIndexOfShards) {
  std::vector<TensorSpec> all = specs;
  std::string map;
  for (int shard = 0; shard < 2; ++shard) {
    std::string name = "model-" + std::to_string(shard) + ".safetensors";
    size_t half = all.size() / 2;
    specs.assign(all.begin() + (shard ? half : 0),
                 shard ? all.end() : all.begin() + half);
    save(name);
    for (const TensorSpec &spec : specs)
      map += (map.empty() ? "" : ", ") + ("\"" + spec.name) + "\": \"" + name +
             "\"";
  }
  write("model.safetensors.index.json", "{\"weight_map\": {" + map + "}}");
  ASSERT_TRUE(load(folder.string())) << messages;
  EXPECT_EQ((*module)->getAttrOfType<mlir::ArrayAttr>("weft.weights").size(),
            3u);
}

TEST_F(WeightsTest, MissingTensor) {
  specs.pop_back();
  save();
  EXPECT_NE(loadError().find(
                "expects a tensor 'transformer.ln_f.bias', but there is none"),
            std::string::npos)
      << messages;
}

TEST_F(WeightsTest, ExtraTensor) {
  specs.push_back({"h.7.ln_1.weight", weft::TensorType::F32, {4}});
  save();
  EXPECT_EQ(loadError(), "model.safetensors:0: expects only tensors of the "
                         "model, but got 'h.7.ln_1.weight'\n");
}

TEST_F(WeightsTest, OneErrorForEachCause) {
  const std::vector<TensorSpec> all = specs;
  for (TensorSpec &spec : specs)
    spec.name = "base_model." + spec.name;
  save();
  EXPECT_EQ(loadError(),
            "FOLDER:0: expects a tensor 'transformer.wte.weight', "
            "but it and 15 others have names that begin with 'base_model.'\n");
  for (TensorSpec &spec : specs)
    spec.name = "a.transformer." + spec.name.substr(11);
  save();
  EXPECT_EQ(loadError(),
            "FOLDER:0: expects a tensor 'transformer.wte.weight', "
            "but it and 15 others have names that begin with 'a.'\n");
  for (TensorSpec &spec : specs)
    spec.name = spec.name.substr(2) + ".old";
  save();
  EXPECT_EQ(loadError(),
            "FOLDER:0: expects a tensor 'transformer.wte.weight' "
            "and 15 others, but there are none\n"
            "model.safetensors:0: expects only tensors of the model, but got "
            "'transformer.h.0.attn.bias.old' and 16 others\n");
  specs = all;
  for (TensorSpec &spec : specs)
    spec.shape.push_back(1);
  save();
  EXPECT_EQ(loadError(), "model.safetensors:0: tensor 'wte.weight': expects "
                         "shape [8, 4], but got [8, 4, 1], and 15 others are "
                         "wrong, too\n");
  specs = all;
  specs.erase(specs.begin(), specs.begin() + 2);
  specs.push_back({"x.y", weft::TensorType::F32, {4}});
  specs.push_back({"x.z", weft::TensorType::F32, {4}});
  save();
  EXPECT_EQ(
      loadError(),
      "FOLDER:0: expects a tensor 'transformer.wte.weight' and another, but "
      "there are none\n"
      "model.safetensors:0: expects only tensors of the model, but got "
      "'x.y' and another\n");
}

TEST_F(WeightsTest, NamesWithoutTheModulePath) {
  write("config.json",
        R"({"model_type": "llama", "vocab_size": 8, "hidden_size": 4,
            "intermediate_size": 8, "num_hidden_layers": 1,
            "num_attention_heads": 2, "max_position_embeddings": 8})");
  specs = {{"lm_head.weight", weft::TensorType::F32, {8, 4}}};
  ASSERT_TRUE(load(folder.string())) << messages;
  for (ParamOp param : module->getOps<ParamOp>())
    if (llvm::StringRef name = param.getSymName(); name.consume_front("model."))
      specs.push_back({name.str(), weft::TensorType::F32, {4}});
  save();
  EXPECT_EQ(
      loadError(),
      "FOLDER:0: expects a tensor 'model.embed_tokens.weight', but it and " +
          std::to_string(specs.size() - 2) +
          " others have names without 'model.'\n");
}

TEST_F(WeightsTest, OtherFilesThatLookLikeWeights) {
  save("model.fp16.safetensors");
  write("pytorch_model.bin", "x");
  ASSERT_TRUE(load(folder.string() + "/")) << messages;
  auto files = (*module)->getAttrOfType<mlir::ArrayAttr>("weft.unread_weights");
  ASSERT_TRUE(files);
  EXPECT_EQ(files.size(), 2u);
  // The same of the configuration, and no word where weights are read.
  ASSERT_TRUE(load((folder / "config.json").string())) << messages;
  EXPECT_TRUE((*module)->hasAttr("weft.unread_weights"));
  EXPECT_EQ(modelFiles(folder.string()).size(), 3u);
  save();
  write("adapter_model.safetensors", "x");
  ASSERT_TRUE(load(folder.string())) << messages;
  EXPECT_FALSE((*module)->hasAttr("weft.unread_weights"));
  EXPECT_EQ(messages, "adapter_model.safetensors:0: the adapter is not applied "
                      "to the model's weights\n");
  EXPECT_EQ(modelFiles(folder.string()).size(), 2u);
}

TEST_F(WeightsTest, LinksToNoFile) {
  for (const char *name :
       {"model.safetensors", "model.safetensors.index.json",
        "pytorch_model.bin", "model-00001-of-00002.safetensors",
        "tokenizer.json", "generation_config.json"}) {
    std::filesystem::create_symlink("../blobs/f00", folder / name);
    EXPECT_EQ(loadError(), std::string(name) +
                               ":0: expects a file, but got a link to "
                               "'../blobs/f00', which cannot be opened\n");
    // A cached program must not hide it.
    EXPECT_EQ(modelFiles(folder.string()).size(), 2u) << name;
    std::filesystem::remove(folder / name);
  }
}

TEST_F(WeightsTest, CompanionsAreRecorded) {
  write("tokenizer.json", "{}");
  write("chat_template.jinja", "x");
  write("README.md", "x");
  ASSERT_TRUE(load(folder.string())) << messages;
  auto files =
      (*module)->getAttrOfType<mlir::ArrayAttr>("weft.companion_files");
  ASSERT_TRUE(files);
  ASSERT_EQ(files.size(), 2u);
  auto file = llvm::cast<mlir::DictionaryAttr>(files[1]);
  EXPECT_EQ(file.getAs<mlir::StringAttr>("name"), "tokenizer.json");
  EXPECT_EQ(file.getAs<mlir::IntegerAttr>("bytes").getInt(), 2);
}

TEST_F(WeightsTest, WrongShape) {
  specs[0].shape = {4, 8};
  save();
  EXPECT_EQ(loadError(), "model.safetensors:0: tensor 'wte.weight': expects "
                         "shape [8, 4], but got [4, 8]\n");
}

TEST_F(WeightsTest, WrongType) {
  specs[1].type = weft::TensorType::I32;
  save();
  EXPECT_EQ(loadError(), "model.safetensors:0: tensor 'wpe.weight': expects "
                         "type F32, F16 or BF16, but got I32\n");
}

TEST_F(WeightsTest, TruncatedFile) {
  save();
  std::filesystem::resize_file(folder / "model.safetensors", 1000);
  EXPECT_NE(loadError().find("model.safetensors:0: "), std::string::npos);
}

TEST_F(WeightsTest, TiedHeadThatDiffers) {
  specs.push_back({"lm_head.weight", weft::TensorType::F32, {8, 4}});
  save();
  ASSERT_TRUE(load(folder.string()));
  EXPECT_EQ(messages, "");
  std::fstream file(folder / "model.safetensors",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-1, std::ios::end);
  file.put('x');
  file.close();
  ASSERT_TRUE(load(folder.string()));
  EXPECT_EQ(messages,
            "model.safetensors:0: tensor 'lm_head.weight' differs from "
            "'wte.weight', to which the configuration ties it, and is not "
            "used\n");
}
