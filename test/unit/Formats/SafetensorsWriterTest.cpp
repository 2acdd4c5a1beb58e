//===- SafetensorsWriterTest.cpp - Writing of .safetensors ----------------===//

#include "weft/Formats/Safetensors.h"

#include "../Base/TestSupport.h"

using namespace weft;

static const float weights[6] = {0, 1, 2, 3, 4, 5};

TEST(SafetensorsWriter, BytesOfTheReferenceImplementation) {
  TempDir dir;
  std::string path = dir.file("a.safetensors");
  auto writer =
      SafetensorsWriter::create(path, {{"attn.0", TensorType::F32, {1, 2, 3}}});
  ASSERT_EQ(errorOf(writer), "ok");
  EXPECT_EQ(errorOf(writer->writeTensor("attn.0", weights, sizeof weights)),
            "ok");
  EXPECT_FALSE(std::filesystem::exists(path)); // nothing before finish()
  EXPECT_EQ(errorOf(writer->finish()), "ok");
  std::string header = "{\"attn.0\":{\"dtype\":\"F32\",\"shape\":[1,2,3],"
                       "\"data_offsets\":[0,24]}}";
  std::string bytes = readBytes(path);
  EXPECT_EQ(bytes,
            std::string("\x40\0\0\0\0\0\0\0", 8) + header +
                std::string(reinterpret_cast<const char *>(weights), 24));
  auto digest = digestFile(path);
  ASSERT_TRUE(digest);
  EXPECT_EQ(writer->digest().xxh3, digest->xxh3);
  EXPECT_EQ(writer->digest().bytes, digest->bytes);
  EXPECT_EQ(writer->digest().blocks, digest->blocks);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}),
            1);
}

TEST(SafetensorsWriter, RoundTripInPiecesWithMetadata) {
  TempDir dir;
  std::string path = dir.file("a.safetensors");
  std::vector<TensorSpec> specs = {{"z", TensorType::F32, {2}},
                                   {"empty", TensorType::I64, {0}},
                                   {"a\"\n", TensorType::U8, {3}},
                                   {"s", TensorType::F32, {}}};
  auto writer =
      SafetensorsWriter::create(path, specs, {{"k", "v"}, {"format", "pt"}});
  ASSERT_EQ(errorOf(writer), "ok");
  // Pieces that end inside tensors and span two of them.
  const char *bytes = reinterpret_cast<const char *>(weights);
  EXPECT_EQ(errorOf(writer->write(bytes, 3)), "ok");
  EXPECT_EQ(errorOf(writer->write(bytes + 3, 6)), "ok");
  EXPECT_EQ(errorOf(writer->write(bytes + 9, 6)), "ok");
  EXPECT_EQ(errorOf(writer->finish()), "ok");
  auto file = SafetensorsFile::open(path);
  ASSERT_EQ(errorOf(file), "ok");
  EXPECT_EQ(file->metadata(), (StringMap{{"k", "v"}, {"format", "pt"}}));
  // The data is in the order given, not sorted.
  EXPECT_EQ(file->tensors()[0].name, "z");
  EXPECT_EQ(file->find("a\"\n")->begin, 8);
  EXPECT_EQ(file->find("s")->begin, 11);
  std::string data(15, ' ');
  EXPECT_EQ(errorOf(file->bytes().read(file->offset(*file->find("z")), 15,
                                       data.data())),
            "ok");
  EXPECT_EQ(data, std::string(bytes, 15));
  // Data begins at a multiple of 8.
  EXPECT_EQ((std::filesystem::file_size(path) - 15) % 8, 0u);
}

TEST(SafetensorsWriter, ManyTensors) {
  TempDir dir;
  std::vector<TensorSpec> specs;
  for (int i = 0; i < 2000; ++i)
    specs.push_back({"t" + std::to_string(i), TensorType::F32, {i % 5}});
  auto writer = SafetensorsWriter::create(dir.file("a"), specs);
  ASSERT_EQ(errorOf(writer), "ok");
  for (const TensorSpec &spec : specs)
    ASSERT_EQ(
        errorOf(writer->writeTensor(spec.name, weights, 4 * spec.shape[0])),
        "ok");
  ASSERT_EQ(errorOf(writer->finish()), "ok");
  auto file = SafetensorsFile::open(dir.file("a"));
  ASSERT_EQ(errorOf(file), "ok");
  EXPECT_EQ(file->tensors().size(), 2000u);
}

TEST(SafetensorsWriter, Misuse) {
  TempDir dir;
  std::string path = dir.file("a"), at = "70|" + path + ": ";
  auto create = [&](std::vector<TensorSpec> specs) {
    return SafetensorsWriter::create(path, std::move(specs));
  };
  EXPECT_EQ(errorOf(create({{"x", TensorType::U8, {-1}}})),
            at + "tensor 'x' has no size in bytes for shape [-1]");
  EXPECT_EQ(
      errorOf(create({{"x", TensorType::U8, {1}}, {"x", TensorType::U8, {1}}})),
      at + "tensor name 'x' is taken: names must differ");
  EXPECT_EQ(errorOf(create({{"__metadata__", TensorType::U8, {1}}})),
            at + "tensor name '__metadata__' is taken: names must differ");
  auto writer =
      create({{"x", TensorType::F32, {2}}, {"y", TensorType::F32, {1}}});
  ASSERT_TRUE(writer);
  EXPECT_EQ(errorOf(writer->writeTensor("y", weights, 4)),
            at + "tensor 'y' is not the next one announced");
  EXPECT_EQ(errorOf(writer->writeTensor("x", weights, 4)),
            at + "tensor 'x' expects 8 bytes, but got 4 bytes");
  EXPECT_EQ(errorOf(writer->writeTensor("x", weights, 8)), "ok");
  EXPECT_EQ(errorOf(writer->write(weights, 5)),
            at + "more tensor bytes than announced");
  EXPECT_EQ(errorOf(writer->finish()), at + "tensor 'y' is not complete");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(SafetensorsWriter, AnUnfinishedFileLeavesNothing) {
  TempDir dir;
  {
    auto writer =
        SafetensorsWriter::create(dir.file("a"), {{"x", TensorType::U8, {1}}});
    ASSERT_TRUE(writer);
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

//===- Rows of several tensors --------------------------------------------===//

TEST(SafetensorsRowWriter, RowsOfTwoTensorsAreThoseOfWholeTensors) {
  TempDir dir;
  const std::vector<TensorSpec> specs = {{"x", TensorType::F32, {3, 2}},
                                         {"n", TensorType::U8, {3}}};
  const std::string whole = dir.file("whole"), path = dir.file("rows");
  auto writer = SafetensorsWriter::create(whole, specs, {{"k", "v"}});
  ASSERT_TRUE(writer);
  EXPECT_EQ(errorOf(writer->write(weights, 24)), "ok");
  EXPECT_EQ(errorOf(writer->write("abc", 3)), "ok");
  EXPECT_EQ(errorOf(writer->finish()), "ok");
  auto rows = SafetensorsRowWriter::create(path, specs, {{"k", "v"}});
  ASSERT_EQ(errorOf(rows), "ok");
  EXPECT_EQ(errorOf(rows->write(0, 2, weights)), "ok");
  EXPECT_EQ(errorOf(rows->write(1, 1, "a")), "ok");
  EXPECT_EQ(errorOf(rows->write(1, 2, "bc")), "ok");
  EXPECT_EQ(errorOf(rows->write(0, 1, weights + 4)), "ok");
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(errorOf(rows->finish()), "ok");
  EXPECT_EQ(readBytes(path), readBytes(whole));
}

TEST(SafetensorsRowWriter, Errors) {
  TempDir dir;
  const std::string path = dir.file("rows"), at = "70|" + path + ": ";
  auto create = [&](std::vector<TensorSpec> specs) {
    return SafetensorsRowWriter::create(path, std::move(specs));
  };
  EXPECT_EQ(
      errorOf(create({{"x", TensorType::U8, {3}}, {"y", TensorType::U8, {2}}})),
      at + "tensor 'y' has no rows like the first tensor");
  EXPECT_EQ(errorOf(create({{"x", TensorType::U8, {}}})),
            at + "tensor 'x' has no rows like the first tensor");
  EXPECT_EQ(errorOf(SafetensorsRowWriter::create("/dev/null",
                                                 {{"x", TensorType::U8, {1}}})),
            "8|/dev/null: expects a regular file for rows of tensors, but got "
            "a device or a pipe");
  {
    auto rows = create({{"x", TensorType::U8, {2}}});
    ASSERT_TRUE(rows);
    EXPECT_EQ(errorOf(rows->write(0, 3, "abc")),
              at + "tensor 'x' has more rows than announced");
    EXPECT_EQ(errorOf(rows->write(0, 1, "a")), "ok");
    EXPECT_EQ(errorOf(rows->finish()), at + "tensor 'x' is not complete");
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}
