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
