//===- ModelWeightsTest.cpp - Weights in one file or several --------------===//

#include "weft/Formats/ModelWeights.h"

#include "../Base/TestSupport.h"
#include "SafetensorsBytes.h"

using namespace weft;

class ModelWeightsTest : public ::testing::Test {
protected:
  /// A shard with one U8 tensor.
  void shard(const std::string &file, const std::string &tensor) {
    dir.write(file, fileBytes("{\"" + tensor +
                                  "\":" + entry("U8", "[1]", "[0,1]") + "}",
                              "x"));
  }
  std::string index(const std::string &map) {
    return dir.write(
        "model.safetensors.index.json",
        "{\"metadata\":{\"total_size\":2},\n\"weight_map\":" + map + "}");
  }
  std::string failureOf(const std::string &path) {
    std::string text = errorOf(ModelWeights::open(path));
    for (size_t at; (at = text.find(dir.path() + "/")) != text.npos;)
      text.erase(at, dir.path().size() + 1);
    return text;
  }
  TempDir dir;
};

TEST_F(ModelWeightsTest, SingleFileAndFolder) {
  EXPECT_FALSE(ModelWeights::existsIn(dir.path()));
  EXPECT_EQ(errorOf(ModelWeights::open(dir.path())),
            "3|" + dir.path() +
                ": expects model.safetensors or "
                "model.safetensors.index.json, but the folder has neither");
  shard("model.safetensors", "w");
  EXPECT_TRUE(ModelWeights::existsIn(dir.path()));
  for (const std::string &path : {dir.path(), dir.file("model.safetensors")}) {
    auto model = ModelWeights::open(path);
    ASSERT_EQ(errorOf(model), "ok");
    ASSERT_NE(model->find("w"), nullptr);
    char x = ' ';
    EXPECT_EQ(
        errorOf(model->find("w")->file->read(*model->find("w")->info, &x)),
        "ok");
    EXPECT_EQ(x, 'x');
    EXPECT_EQ(model->digest(0)->xxh3, digestFile(model->paths()[0])->xxh3);
    EXPECT_EQ(model->find("v"), nullptr);
    EXPECT_EQ(model->paths(),
              (std::vector<std::string>{dir.file("model.safetensors")}));
  }
  EXPECT_EQ(failureOf(dir.file("no.safetensors")),
            "3|no.safetensors: cannot open: no such file or directory");
}

TEST_F(ModelWeightsTest, Sharded) {
  shard("one.safetensors", "a");
  shard("two.safetensors", "b");
  std::string path =
      index("{\"a\":\"one.safetensors\",\"b\":\"two.safetensors\"}");
  EXPECT_TRUE(ModelWeights::existsIn(dir.path()));
  for (const std::string &place : {dir.path(), path}) {
    auto model = ModelWeights::open(place);
    ASSERT_EQ(errorOf(model), "ok");
    EXPECT_EQ(model->tensors().size(), 2u);
    EXPECT_EQ(model->find("b")->file->path(), dir.file("two.safetensors"));
    EXPECT_EQ(model->paths().size(), 3u);
  }
}

TEST_F(ModelWeightsTest, IndexErrors) {
  shard("one.safetensors", "a");
  shard("two.safetensors", "b");
  shard("again.safetensors", "a");
  for (const char *bad :
       {"../one.safetensors", "/etc/passwd", "..", ".", "", "x/y"})
    EXPECT_EQ(failureOf(index("{\"a\":\"" + std::string(bad) + "\"}")),
              "3|model.safetensors.index.json:2: field 'weight_map.a': expects "
              "the name of a file in the folder of the index, but got '" +
                  std::string(bad) + "'");
  EXPECT_EQ(failureOf(index("{\"a\":1}")),
            "3|model.safetensors.index.json:2: field 'weight_map.a': expects a "
            "string, but got 1");
  EXPECT_EQ(failureOf(index("[]")),
            "3|model.safetensors.index.json:2: field 'weight_map': expects an "
            "object, but got an array");
  EXPECT_EQ(failureOf(dir.write("x.index.json", "{}")),
            "3|x.index.json:1: field 'weight_map' is missing");
  EXPECT_EQ(failureOf(index("{\"a\":\"no.safetensors\"}")),
            "3|no.safetensors: cannot open: no such file or directory");
  EXPECT_EQ(
      failureOf(index("{\"a\":\"one.safetensors\",\"c\":\"two.safetensors\"}")),
      "3|model.safetensors.index.json: the index puts tensor 'c' into "
      "two.safetensors, but it is not there");
  EXPECT_EQ(
      failureOf(index("{\"b\":\"one.safetensors\",\"a\":\"two.safetensors\"}")),
      "3|model.safetensors.index.json: the index puts tensor 'a' into "
      "two.safetensors, but it is not there");
  EXPECT_EQ(failureOf(index(
                "{\"a\":\"one.safetensors\",\"x\":\"again.safetensors\"}")),
            "3|one.safetensors: tensor 'a' is also in again.safetensors");
  dir.write("more.safetensors",
            fileBytes("{\"a\":" + entry("U8", "[1]", "[0,1]") +
                          ",\"z\":" + entry("U8", "[0]", "[1,1]") + "}",
                      "x"));
  EXPECT_EQ(failureOf(index("{\"a\":\"more.safetensors\"}")),
            "3|more.safetensors: tensor 'z' is not in the index "
            "model.safetensors.index.json");
}
