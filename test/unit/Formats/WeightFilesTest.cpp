//===- WeightFilesTest.cpp - Weights that are not read --------------------===//

#include "weft/Formats/WeightFiles.h"

#include "../Base/TestSupport.h"
#include "weft/Formats/ModelWeights.h"
#include "weft/Formats/OwnFiles.h"

using namespace weft;
namespace fs = std::filesystem;

namespace {
class WeightFilesTest : public ::testing::Test {
protected:
  /// The names that are found, each with a blank behind it.
  std::string found() {
    auto paths = findUnreadWeights(dir.path());
    EXPECT_TRUE(paths) << errorOf(paths);
    std::string names;
    for (const std::string &path : *paths)
      names += fs::path(path).filename().string() + " ";
    return names;
  }
  TempDir dir;
};
} // namespace

TEST_F(WeightFilesTest, NamesTell) {
  for (const char *name : {"pytorch_model.bin",
                           "pytorch_model-00001-of-00002.bin",
                           "pytorch_model.bin.index.json",
                           "model-00001-of-00002.safetensors",
                           "model.fp16.safetensors",
                           "Model.safetensors",
                           "MODEL.SAFETENSORS",
                           "model.fp16.safetensors.index.json",
                           "consolidated.00.pth",
                           "consolidated.safetensors",
                           "llama.Q4_K_M.gguf",
                           "ggml-model-f16.bin",
                           "model.safetensors.incomplete",
                           "f00ba4.incomplete",
                           "pytorch_model.bin.part",
                           "tf_model.h5",
                           "flax_model.msgpack",
                           "adapter_model.safetensors",
                           "adapter_model.bin",
                           "model.pt",
                           "model.pth",
                           "model.ckpt",
                           "model.ckpt.data-00000-of-00001",
                           "model.onnx",
                           "rust_model.ot",
                           "weights.npz",
                           "model.safetensors.1",
                           "model.safetensors.tmp",
                           "model.safetensors.index.json.bak"}) {
    dir.write(name, "x");
    EXPECT_EQ(found(), std::string(name) + " ");
    fs::remove(dir.file(name));
  }
}

TEST_F(WeightFilesTest, OtherFilesAreNone) {
  for (const char *name :
       {"model.safetensors", "model.safetensors.index.json", "config.json",
        "tokenizer.json", "train.bin", "data.txt", "optimizer.pt",
        "scheduler.pt", "training_args.bin", "rng_state.pth", "notes.part",
        "meta.pkl", "README.md", "a.safetensors.txt"})
    dir.write(name, "x");
  fs::create_directory(dir.file("model.pt"));
  EXPECT_EQ(found(), "");
}

TEST_F(WeightFilesTest, ABinFileTellsByItsBytes) {
  dir.write("diffusion.bin", std::string("PK\3\4\0\0\0\0", 8) +
                                 "archive/data.pkl" + std::string(100, '\0'));
  dir.write("tokens.bin", std::string("\1\0\2\0", 4));
  dir.write("weights.pkl", std::string("\x80\2}q\0", 5));
  dir.write("words.pkl", "words");
  EXPECT_EQ(found(), "diffusion.bin weights.pkl ");
}

TEST_F(WeightFilesTest, WhatWeftWroteIsNone) {
  auto writer = SafetensorsWriter::create(dir.file("grads.safetensors"), {},
                                          {{writtenByKey, "gradients"}});
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->finish());
  EXPECT_EQ(found(), "");
}

TEST_F(WeightFilesTest, UnfinishedDownloadsOfTheHub) {
  fs::create_directories(dir.file(".cache/huggingface/download"));
  dir.write(".cache/huggingface/download/abc.incomplete", "x");
  dir.write(".cache/huggingface/download/config.json.metadata", "x");
  EXPECT_EQ(found(), "abc.incomplete ");
}

TEST_F(WeightFilesTest, AFolderThatIsNotThere) {
  EXPECT_EQ(errorOf(findUnreadWeights(dir.file("none"))),
            "3|" + dir.file("none") +
                ": cannot look for weights in the "
                "folder: no such file or directory");
}

TEST_F(WeightFilesTest, HintsNameTheWayOn) {
  const std::string rest =
      " takes weights of a safetensors or GGUF file, --init-from none draws "
      "new ones";
  EXPECT_EQ(unreadWeightsHint("m/model.fp16.safetensors"),
            "--init-from m/model.fp16.safetensors" + rest);
  EXPECT_EQ(unreadWeightsHint("m/a.safetensors.index.json"),
            "--init-from m/a.safetensors.index.json" + rest);
  EXPECT_EQ(unreadWeightsHint("m/model-00001-of-00002.safetensors"),
            "add the model.safetensors.index.json of the shards and compile "
            "again; --init-from FILE" +
                rest);
  EXPECT_EQ(unreadWeightsHint("m/adapter_model.safetensors"),
            "merge the adapter into its base model; --init-from FILE" + rest);
  EXPECT_EQ(unreadWeightsHint("m/model.safetensors.incomplete"),
            "finish the download and compile again; --init-from FILE" + rest);
  EXPECT_EQ(unreadWeightsHint("m/x.gguf"), "--init-from m/x.gguf" + rest);
  EXPECT_EQ(unreadWeightsHint("m/pytorch_model.bin"),
            "save them as safetensors: safetensors.torch.save_file({k: "
            "v.clone().contiguous() for k, v in torch.load(FILE, "
            "weights_only=True).items()}, 'model.safetensors'); --init-from "
            "FILE" +
                rest);
  const std::string nested = unreadWeightsHint("m/ckpt.pt");
  EXPECT_NE(nested.find("'model.safetensors'), with ['model'] or ['state_dict'"
                        "] before .items() if FILE contains more than weights; "
                        "--init-from FILE"),
            nested.npos)
      << nested;
  for (const char *part :
       {"m/pytorch_model-00001-of-00002.bin", "m/pytorch_model.bin.index.json"})
    EXPECT_EQ(unreadWeightsHint(part),
              "save them as model.safetensors: transformers' "
              "AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained("
              "FOLDER, safe_serialization=True); --init-from FILE" +
                  rest);
  EXPECT_EQ(unreadWeightsHint("m/tf_model.h5"),
            "save them as model.safetensors: transformers' save_pretrained "
            "does; --init-from FILE" +
                rest);
  for (const char *left : {"m/model.safetensors.1", "m/model.safetensors.tmp",
                           "m/model.safetensors.index.json.bak"})
    EXPECT_EQ(unreadWeightsHint(left),
              "finish the download and compile again; --init-from FILE" + rest)
        << left;
  EXPECT_EQ(unreadWeightsHint("my m/best one.safetensors"),
            "--init-from 'my m/best one.safetensors'" + rest);
  EXPECT_EQ(unreadWeightsText({"a"}), "'a'");
  EXPECT_EQ(unreadWeightsText({"a", "b"}), "'a' and another file");
  EXPECT_EQ(unreadWeightsText({"a", "b", "c"}), "'a' and 2 other files");
}

TEST_F(WeightFilesTest, LinksToNoFile) {
  EXPECT_EQ(errorOf(checkLink(dir.file("none"))), "ok");
  EXPECT_EQ(errorOf(checkLink(dir.write("file", "x"))), "ok");
  fs::create_symlink("file", dir.file("good"));
  EXPECT_EQ(errorOf(checkLink(dir.file("good"))), "ok");
  for (auto [target, name] :
       {std::pair("../blobs/f00", "model.safetensors"), {"loop", "loop"}}) {
    fs::create_symlink(target, dir.file(name));
    EXPECT_EQ(errorOf(checkLink(dir.file(name))),
              "3|" + dir.file(name) + ": expects a file, but got a link to '" +
                  target +
                  "', which cannot be opened|fetch the file again, or remove "
                  "the link");
  }
}

TEST_F(WeightFilesTest, OpeningAFolderWithoutWeights) {
  const std::string error =
      "3|" + dir.path() +
      ": expects model.safetensors or model.safetensors.index.json, but the "
      "folder has neither";
  EXPECT_EQ(errorOf(ModelWeights::open(dir.path())), error);
  const std::string path = dir.write("model.fp16.safetensors", "x");
  EXPECT_EQ(errorOf(ModelWeights::open(dir.path())),
            error + "|" + unreadWeightsHint(path));
  // A link to no file is not passed over.
  fs::create_symlink("none", dir.file("model.safetensors"));
  EXPECT_TRUE(ModelWeights::existsIn(dir.path()));
  EXPECT_EQ(errorOf(ModelWeights::open(dir.path())),
            "3|" + dir.file("model.safetensors") +
                ": cannot open: no such file or directory");
}
