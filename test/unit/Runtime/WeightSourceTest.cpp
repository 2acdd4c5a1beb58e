//===- WeightSourceTest.cpp - Names and types of weight files -------------===//

#include "ToyTool.h"

#include "weft/Base/Half.h"
#include "weft/Runtime/Checkpoints/WeightSource.h"

#include <cmath>
#include <cstring>
#include <fstream>

using namespace weft;

namespace {

const int64_t dims[] = {2};
const WeftTensor tensors[] = {{"transformer.wte.weight", "", "", WEFT_PARAM,
                               WEFT_F32, 1, 1, dims, 0, 8, "", nullptr, 0, 1},
                              {"head", "", "lm.head", WEFT_PARAM, WEFT_F32, 1,
                               1, dims, 64, 8, "", nullptr, 0, 1},
                              {"low", "", "", WEFT_PARAM, WEFT_BF16, 1, 1, dims,
                               128, 4, "", nullptr, 0, 1},
                              {"wide", "", "", WEFT_PARAM, WEFT_F64, 1, 1, dims,
                               192, 16, "", nullptr, 0, 1},
                              {"head.m", "head", "", WEFT_OPTIMIZER, WEFT_F32,
                               1, 0, dims, 256, 8, "", nullptr, 0, 1}};
const WeftExecutable kProgram = {
    WEFT_ABI_VERSION, 0, 5, 0, nullptr, tensors, 320, "", 0, nullptr, 0};

class WeightSourceTest : public ToyTest {
protected:
  struct Tensor {
    std::string name;
    TensorType type;
    std::string bytes;
  };
  static std::string f32(float a, float b) {
    float values[] = {a, b};
    return std::string(reinterpret_cast<char *>(values), 8);
  }
  static std::string half(float a, float b) {
    uint16_t values[] = {floatToHalf(a), floatToHalf(b)};
    return std::string(reinterpret_cast<char *>(values), 4);
  }
  void save(const std::string &name, const std::vector<Tensor> &list) {
    std::vector<TensorSpec> specs;
    for (const Tensor &tensor : list)
      specs.push_back({tensor.name, tensor.type, {2}});
    auto writer = SafetensorsWriter::create(path(name), specs);
    ASSERT_TRUE(writer.ok());
    for (const Tensor &tensor : list)
      ASSERT_TRUE(
          writer->write(tensor.bytes.data(), int64_t(tensor.bytes.size()))
              .ok());
    ASSERT_TRUE(writer->finish().ok());
  }
  Expected<WeightSource> open(const std::string &family,
                              const std::string &file) {
    metadata.family = family;
    initFrom = path(file);
    return WeightSource::open(initFrom, /*trains=*/false, metadata, kProgram,
                              "/bin/x");
  }
  Metadata metadata;
  std::string initFrom;
};

TEST_F(WeightSourceTest, wrappersAreTakenOff) {
  save("w",
       {{"module._orig_mod.transformer.wte.weight", TensorType::F32, f32(1, 2)},
        {"module._orig_mod.lm.head", TensorType::F32, f32(3, 4)},
        {"module._orig_mod.low", TensorType::F32, f32(5, 6)},
        {"module._orig_mod.wide", TensorType::F32, f32(7, 8)}});
  auto weights = open("mlir", "w");
  ASSERT_TRUE(weights.ok()) << weights.error().where();
  EXPECT_EQ(weights->describe(0),
            "weights of " + path("w") + ", names without 'module._orig_mod.'");
  std::string error;
  auto context = WeftContext::create(kProgram, {}, error);
  ASSERT_TRUE(context) << error;
  ASSERT_TRUE(weights->load(*context, 0).ok());
  EXPECT_EQ(static_cast<float *>(context->at(0))[1], 2.0f);
}

TEST_F(WeightSourceTest, prefixesSourcesAndConversions) {
  save("w", {{"wte.weight", TensorType::F32, f32(1, 2)},
             {"lm.head", TensorType::F16, half(0.5f, -3)},
             {"low", TensorType::F32, f32(1.00390625f, 7)},
             {"wide", TensorType::F32, f32(0.1f, 8)},
             {"h.0.attn.bias", TensorType::F32, f32(0, 0)},
             {"lm_head.weight", TensorType::F32, f32(1, 2)}});
  auto weights = open("gpt2", "w");
  ASSERT_TRUE(weights.ok()) << weights.error().where();
  std::string error;
  auto context = WeftContext::create(kProgram, {}, error);
  ASSERT_TRUE(context) << error;
  ASSERT_TRUE(weights->load(*context, 0).ok());
  auto *wte = static_cast<float *>(context->at(0));
  EXPECT_EQ(wte[1], 2.0f);
  EXPECT_EQ(static_cast<float *>(context->at(64))[0], 0.5f);
  EXPECT_EQ(static_cast<float *>(context->at(64))[1], -3.0f);
  auto *low = static_cast<uint16_t *>(context->at(128));
  EXPECT_EQ(bf16ToFloat(low[0]), 1.0f); // a tie goes to the even neighbour
  EXPECT_EQ(bf16ToFloat(low[1]), 7.0f);
  EXPECT_EQ(static_cast<double *>(context->at(192))[0], double(0.1f));
  // The same file for a model that is no GPT-2 has tensors too many.
  auto other = open("mlir", "w");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().where(),
            path("w") + ": the model has no parameter for tensor "
                        "'h.0.attn.bias'");
  metadata.ignoredWeights = {".bias", "lm_head.weight"};
  EXPECT_TRUE(open("mlir", "w").ok());
}

/// Weights of a file go to the segments of a flat tensor, and zeros between
/// them; a rank takes the elements of its slice.
TEST_F(WeightSourceTest, segmentsOfAFlatTensor) {
  save("w", {{"first", TensorType::F16, half(1, 2)},
             {"transformer.second", TensorType::F32, f32(3, 4)}});
  const int64_t flatDims[] = {3};
  const WeftSegment segments[] = {{"a", "first", 1, dims, 0, 2},
                                  {"second", "", 1, dims, 3, 5}};
  const WeftTensor flat = {"flat",   "", "", WEFT_PARAM, WEFT_F32, 1, 1,
                           flatDims, 0,  12, "",         segments, 2, 2};
  WeftExecutable program = kProgram;
  program.numTensors = 1;
  program.tensors = &flat;
  for (int rank : {0, 1}) {
    auto weights = WeightSource::open(path("w"), /*trains=*/false, metadata,
                                      program, "/bin/x");
    ASSERT_TRUE(weights.ok()) << weights.error().where();
    ContextOptions options;
    options.rank = rank;
    options.ranks = 2;
    options.poisoned = true;
    std::string error;
    auto context = WeftContext::create(program, options, error);
    ASSERT_TRUE(context) << error;
    ASSERT_TRUE(weights->verify(rank).ok());
    ASSERT_TRUE(weights->load(*context, 0).ok());
    const float *values = static_cast<float *>(context->at(0));
    const std::vector<float> got(values, values + 3);
    EXPECT_EQ(got, rank == 0 ? (std::vector<float>{1, 2, 0})
                             : (std::vector<float>{3, 4, 0}));
  }
}

TEST_F(WeightSourceTest, valuesThatTheWeightCannotHold) {
  save("w", {{"wte.weight", TensorType::F32, f32(1, 3.4e38f)},
             {"head", TensorType::F32, f32(1, 2)},
             {"low", TensorType::F32, f32(3.4e38f, INFINITY)},
             {"wide", TensorType::F32, f32(1, 3.4e38f)}});
  auto weights = open("gpt2", "w");
  ASSERT_TRUE(weights.ok());
  std::string message;
  auto context = WeftContext::create(kProgram, {}, message);
  ASSERT_TRUE(context) << message;
  Status checked = weights->verify(/*rank=*/0),
         loaded = weights->load(*context, 0);
  for (const Status *status : {&checked, &loaded}) {
    ASSERT_FALSE(status->ok());
    EXPECT_EQ(status->error().code(), ExitCode::Input);
    EXPECT_EQ(status->error().where(),
              path("w") + ": expects weights that BF16 can hold, but 1 of 2 "
                          "elements of 'low' are too large");
    EXPECT_EQ(status->error().hintText(),
              "--master-weights=on keeps the weights in f32");
  }
}

TEST_F(WeightSourceTest, doublesThatAreNoFloats) {
  double values[] = {1, 1e300};
  save("w", {{"wte.weight", TensorType::F64,
              std::string(reinterpret_cast<char *>(values), 16)},
             {"head", TensorType::F32, f32(1, 2)},
             {"low", TensorType::F32, f32(1, 2)},
             {"wide", TensorType::F32, f32(1, 2)}});
  auto weights = open("gpt2", "w");
  ASSERT_TRUE(weights.ok());
  Status status = weights->verify(/*rank=*/0);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().where(),
            path("w") + ": expects weights that F32 can hold, but 1 of 2 "
                        "elements of 'wte.weight' are too large");
}

/// Several blocks of weights behind an index, in another order than the tables
/// of the program: of types that are converted and of types that are not.
TEST_F(WeightSourceTest, recordedDigestsAreCheckedWhileTheWeightsAreRead) {
  const int64_t many[] = {6'000'000};
  const int64_t bytes = many[0] * 4, half = many[0] * 2;
  const WeftTensor large[] = {{"a", "", "", WEFT_PARAM, WEFT_F32, 1, 1, many, 0,
                               bytes, "", nullptr, 0, 1},
                              {"b", "", "", WEFT_PARAM, WEFT_F32, 1, 1, many,
                               bytes, bytes, "", nullptr, 0, 1},
                              {"c", "", "", WEFT_PARAM, WEFT_BF16, 1, 1, many,
                               2 * bytes, half, "", nullptr, 0, 1}};
  const WeftExecutable program = {
      WEFT_ABI_VERSION, 0,  3, 0,       nullptr, large,
      2 * bytes + half, "", 0, nullptr, 0};
  std::vector<float> values(static_cast<size_t>(many[0]));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i % 4093) - 7.0f;
  auto writer = SafetensorsWriter::create(path("w.safetensors"),
                                          {{"c", TensorType::F32, {many[0]}},
                                           {"b", TensorType::F32, {many[0]}},
                                           {"a", TensorType::F32, {many[0]}}});
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(writer->write(values.data(), bytes).ok());
  ASSERT_TRUE(writer->finish().ok());
  metadata.initialWeights = {{path("w.safetensors"), writer->digest().xxh3}};
  std::string message;
  auto context = WeftContext::create(program, {}, message);
  ASSERT_TRUE(context) << message;
  auto load = [&] {
    auto weights = WeightSource::open(initFrom, /*trains=*/false, metadata,
                                      program, "/bin/x");
    if (!weights)
      return weights.error().where();
    if (Status s = weights->load(*context, 0); !s)
      return s.error().where();
    auto share = weights->shareDigests(/*part=*/0, /*parts=*/1);
    if (!share)
      return share.error().where();
    Status status = weights->compareDigests({*share});
    return status ? std::string() : status.error().where();
  };
  EXPECT_EQ(load(), "");
  for (int64_t offset : {int64_t(0), bytes})
    EXPECT_EQ(std::memcmp(context->at(offset), values.data(), size_t(bytes)),
              0);
  auto *low = static_cast<uint16_t *>(context->at(2 * bytes));
  for (size_t i = 0; i < values.size(); i += 1013)
    EXPECT_EQ(low[i], floatToBf16(values[i]));
  // One bit, in any of the blocks.
  std::fstream file(path("w.safetensors"),
                    std::ios::in | std::ios::out | std::ios::binary);
  for (int64_t at : {1000l, 17'000'000l, 40'000'000l, 71'000'000l}) {
    auto flip = [&] {
      file.seekg(at);
      char byte = char(file.get() ^ 1);
      file.seekp(at).put(byte).flush();
    };
    flip();
    EXPECT_EQ(load().find(path("w.safetensors") +
                          ": the weights changed since the program was "
                          "compiled: expects digest "),
              0u)
        << at;
    flip();
  }
  EXPECT_EQ(load(), "");
}

TEST_F(WeightSourceTest, weightsThatWereNotReadMustBeAskedFor) {
  metadata.unreadWeights = {"m/pytorch_model.bin", "m/x.gguf"};
  auto open = [&](const std::string &initFrom) {
    return WeightSource::open(initFrom, /*trains=*/false, metadata, kProgram,
                              "/bin/x");
  };
  auto weights = open("");
  ASSERT_FALSE(weights.ok());
  EXPECT_EQ(weights.error().code(), ExitCode::Input);
  EXPECT_EQ(
      weights.error().where(),
      "expects model.safetensors in the model's folder, but when the "
      "program was compiled it had 'm/pytorch_model.bin' and another file "
      "instead");
  EXPECT_NE(weights.error().hintText().find("--init-from none draws new ones"),
            std::string::npos);
  // The toy draws none; the error is another one.
  EXPECT_EQ(open("none").error().where(),
            "the program cannot draw initial weights");
  save("a.safetensors", {{"a", TensorType::F32, f32(1, 2)}});
  EXPECT_EQ(
      open(path("a.safetensors")).error().where().find("was compiled it had"),
      std::string::npos);
}

TEST_F(WeightSourceTest, severalFilesBehindAnIndex) {
  save("a.safetensors", {{"transformer.wte.weight", TensorType::F32, f32(1, 2)},
                         {"head", TensorType::F32, f32(3, 4)}});
  save("b.safetensors", {{"low", TensorType::F32, f32(5, 6)},
                         {"wide", TensorType::F32, f32(7, 8)}});
  write("model.safetensors.index.json",
        R"({"weight_map": {"transformer.wte.weight": "a.safetensors",
            "head": "a.safetensors", "low": "b.safetensors",
            "wide": "b.safetensors"}})");
  auto weights = open("gpt2", "model.safetensors.index.json");
  ASSERT_TRUE(weights.ok()) << weights.error().where();
  EXPECT_TRUE(open("gpt2", ".").ok());
  EXPECT_EQ(weights->describe(0),
            "weights of " + path("model.safetensors.index.json"));
  // Recorded with two files, or with three: an index that was written anew.
  for (const auto &[count, text] :
       {std::pair<size_t, std::string>{2, "expects 2 files, but got 3"},
        {4, "expects 4 files, but got 3"}}) {
    metadata.initialWeights.assign(count, {path("a.safetensors"), "0"});
    metadata.initialWeights.front().path = path("model.safetensors.index.json");
    auto other =
        WeightSource::open("", /*trains=*/false, metadata, kProgram, "/bin/x");
    ASSERT_TRUE(other.ok()) << other.error().where();
    EXPECT_TRUE(other->isRecorded());
    ASSERT_TRUE(other->verify(/*rank=*/0).ok());
    auto share = other->shareDigests(/*part=*/0, /*parts=*/1);
    ASSERT_FALSE(share.ok());
    EXPECT_EQ(
        share.error().where(),
        path("model.safetensors.index.json") +
            ": the weights changed since the program was compiled: " + text);
  }
}

} // namespace
