//===- GgufWriterTest.cpp - Writing of GGUF files and orders --------------===//

#include "weft/Formats/GgufWriter.h"

#include "../Base/TestSupport.h"
#include "GgufBytes.h"

#include "weft/Formats/GgufWeights.h"

#include <numeric>

using namespace weft;

namespace {

TEST(GgufWriter, RoundTrip) {
  TempDir dir;
  GgufMetadata metadata;
  metadata.addText("general.architecture", "llama");
  metadata.addInteger("n", 3);
  metadata.addNumber("x", 0.5f);
  std::vector<float> values(96);
  std::iota(values.begin(), values.end(), -48.0f);
  for (const char *name : {"a", "b"}) {
    auto writer = GgufWriter::create(dir.file(name), metadata,
                                     {{"f", GgmlType::F32, {3}},
                                      {"h", GgmlType::F16, {2, 3}},
                                      {"q", GgmlType::Q8_0, {3, 32}}});
    ASSERT_TRUE(writer) << errorOf(writer);
    EXPECT_EQ(*writer->write(values.data(), 3), 0);
    EXPECT_EQ(*writer->write(values.data(), 6), 0);
    EXPECT_EQ(*writer->write(values.data(), 32), 0);
    EXPECT_EQ(*writer->write(values.data() + 32, 64), 0);
    ASSERT_TRUE(writer->finish());
  }
  EXPECT_EQ(readBytes(dir.file("a")), readBytes(dir.file("b")));
  auto file = GgufFile::open(dir.file("a"));
  ASSERT_TRUE(file) << errorOf(file);
  EXPECT_EQ(**file->integer("n"), 3);
  EXPECT_EQ(**file->number("x"), 0.5);
  float read[96];
  ASSERT_TRUE(file->readFloats(*file->find("h"), 0, 6, read));
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(read[i], values[size_t(i)]);
  EXPECT_EQ(file->find("q")->shape, (std::vector<int64_t>{3, 32}));
  ASSERT_TRUE(file->readFloats(*file->find("q"), 0, 96, read));
  float part[40];
  ASSERT_TRUE(file->readFloats(*file->find("q"), 30, 40, part));
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(part[i], read[30 + i]);
}

TEST(GgufWriter, Misuse) {
  TempDir dir;
  const auto create = [&](std::vector<GgufTensorSpec> specs) {
    return GgufWriter::create(dir.file("a"), {}, std::move(specs));
  };
  EXPECT_NE(errorOf(create({{"a", GgmlType::Q8_0, {33}}})).find("whole blocks"),
            std::string::npos);
  EXPECT_NE(
      errorOf(create({{"a", GgmlType::F32, {1}}, {"a", GgmlType::F32, {1}}}))
          .find("names must differ"),
      std::string::npos);
  auto writer = create({{"a", GgmlType::F32, {2}}});
  ASSERT_TRUE(writer);
  const float values[3] = {};
  EXPECT_FALSE(writer->write(values, 3));
  EXPECT_FALSE(writer->finish());
  EXPECT_EQ(readBytes(dir.file("a")), "<missing>");
}

/// Reading back what was written gives the elements in their first order.
TEST(ReorderedMatrix, DirectionsAreInverse) {
  using Direction = ReorderedMatrix::Direction;
  const int64_t rows = 24, columns = 5;
  std::vector<float> first(rows * columns);
  std::iota(first.begin(), first.end(), 0.0f);
  for (GgufLayout layout :
       {GgufLayout::QueryHeads, GgufLayout::KeyHeads, GgufLayout::Transposed}) {
    const bool swaps = layout == GgufLayout::Transposed;
    ReorderedMatrix to(layout, Direction::ToGguf, 3, swaps ? columns : rows,
                       swaps ? rows : columns);
    ReorderedMatrix from(layout, Direction::FromGguf, 3, rows, columns);
    std::vector<float> stored(first.size()), again(first.size());
    const auto source = [](const std::vector<float> &all) {
      return [&all](int64_t begin, int64_t count, float *out) {
        std::copy_n(all.data() + begin, count, out);
        return Status::success();
      };
    };
    ASSERT_TRUE(to.read(source(first), 0, rows * columns, stored.data()));
    EXPECT_NE(stored, first);
    if (!swaps) { // rows 0, 4, 1, 5, ...: the halves of a head of width 8
      EXPECT_EQ(stored[5], first[4 * 5]);
      EXPECT_EQ(stored[10], first[1 * 5]);
    }
    for (int64_t at = 0; at < rows * columns; at += 7)
      ASSERT_TRUE(from.read(source(stored), at,
                            std::min<int64_t>(7, rows * columns - at),
                            again.data() + at));
    EXPECT_EQ(again, first);
  }
}

/// Query, key and value of each head become one block each of all heads.
TEST(ReorderedMatrix, GroupsHeads) {
  using Direction = ReorderedMatrix::Direction;
  EXPECT_FALSE(ReorderedMatrix::fits(GgufLayout::GroupedHeads, 2, 9));
  EXPECT_TRUE(ReorderedMatrix::fits(GgufLayout::GroupedHeads, 2, 12));
  const std::vector<float> model = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  std::vector<float> stored(12), again(12);
  const auto source = [](const std::vector<float> &all) {
    return [&all](int64_t begin, int64_t count, float *out) {
      std::copy_n(all.data() + begin, count, out);
      return Status::success();
    };
  };
  ReorderedMatrix to(GgufLayout::GroupedHeads, Direction::ToGguf, 2, 12, 1);
  ASSERT_TRUE(to.read(source(model), 0, 12, stored.data()));
  EXPECT_EQ(stored, (std::vector<float>{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}));
  ReorderedMatrix from(GgufLayout::GroupedHeads, Direction::FromGguf, 2, 12, 1);
  ASSERT_TRUE(from.read(source(stored), 0, 12, again.data()));
  EXPECT_EQ(again, model);
}

TEST(GgufFamilies, Names) {
  const GgufFamily &llama = *findGgufFamily("llama");
  auto name = toModelName(llama, "blk.12.attn_q.weight");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->name, "model.layers.12.self_attn.q_proj.weight");
  EXPECT_EQ(name->row->layout, GgufLayout::QueryHeads);
  EXPECT_EQ(toGgufName(llama, "model.layers.3.mlp.up_proj.bias")->name,
            "blk.3.ffn_up.bias");
  EXPECT_EQ(toGgufName(llama, "lm_head.weight")->name, "output.weight");
  for (const char *wrong :
       {"blk.01.attn_q.weight", "blk..attn_q.weight", "blk.1.attn_q",
        "blk.1.attn_q.scale", "blk.x.attn_q.weight", "rope_freqs.weight"})
    EXPECT_FALSE(toModelName(llama, wrong)) << wrong;
  for (const char *architecture :
       {"gemma", "gemma2", "gemma3", "gpt2", "gptneox", "granite", "llama",
        "olmo2", "phi2", "phi3", "qwen2", "qwen3", "smollm3", "starcoder2"})
    for (const GgufTensorRow &row : findGgufFamily(architecture)->tensors) {
      std::string gguf = std::string(row.gguf) + ".weight";
      if (size_t hole = gguf.find("{}"); hole != gguf.npos)
        gguf.replace(hole, 2, "7");
      auto model = toModelName(*findGgufFamily(architecture), gguf);
      ASSERT_TRUE(model) << gguf;
      EXPECT_EQ(toGgufName(*findGgufFamily(architecture), model->name)->name,
                gguf);
    }
}

TEST(GgufFamilies, UnknownArchitecture) {
  const auto of = [](const GgufBytes &made) {
    const std::string bytes = made.bytes();
    auto file = GgufFile::open(std::make_unique<MemoryBytes>(
        reinterpret_cast<const uint8_t *>(bytes.data()),
        static_cast<int64_t>(bytes.size()), "m"));
    return errorOf(ggufConfig(*file));
  };
  EXPECT_EQ(of(GgufBytes()), "3|m: expects key 'general.architecture', " +
                                 ggufArchitectures() + ", but there is none");
  EXPECT_EQ(of(GgufBytes().string("general.architecture", "rwkv")),
            "3|m: key 'general.architecture' at byte 56: expects " +
                ggufArchitectures() +
                ", but got 'rwkv'|weft "
                "reads other families from a folder with config.json and "
                "safetensors");
  EXPECT_EQ(ggufArchitectures(),
            "gemma, gemma2, gemma3, gpt2, gptneox, granite, llama, olmo2, "
            "phi2, phi3, qwen2, qwen3, smollm3 or starcoder2");
  EXPECT_EQ(of(GgufBytes().string("general.architecture", "llama")),
            "3|m: expects key 'llama.context_length', but there is none");
}

} // namespace
