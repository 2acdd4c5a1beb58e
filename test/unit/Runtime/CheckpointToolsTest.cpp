//===- CheckpointToolsTest.cpp - weft ckpt ls, verify, diff, export -------===//

#include "ToyTool.h"

#include "weft/Base/Half.h"
#include "weft/Formats/Digest.h"
#include "weft/Formats/Manifest.h"
#include "weft/Runtime/Checkpoints/Checkpoint.h"

#include <cmath>

using namespace weft;

namespace {

class CheckpointToolsTest : public ToyTest {
protected:
  void SetUp() override {
    ToyTest::SetUp();
    ASSERT_EQ(
        train({"--steps", "4", "--save-dir", "a", "--save-every", "2"}).status,
        0);
  }
  /// A step directory with one tensor.
  template <typename T>
  void writeStep(const std::string &name, const std::string &tensor,
                 TensorType type, const std::vector<T> &values) const {
    std::filesystem::create_directory(path(name));
    std::vector<int64_t> shape = {int64_t(values.size())};
    auto writer =
        SafetensorsWriter::create(path(name + "/r"), {{tensor, type, shape}});
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(
        writer->write(values.data(), int64_t(values.size() * sizeof(T))).ok());
    ASSERT_TRUE(writer->finish().ok());
    write(name + "/model.json", "{}\n");
    Manifest manifest;
    manifest.files = {{"r", writer->digest()},
                      {"model.json", digestBytes("{}\n")}};
    manifest.tensors = {
        {tensor, "param", type, shape, {{"r", tensor, 0, shape[0]}}}};
    ASSERT_TRUE(manifest.write(path(name)).ok());
  }
  template <typename T>
  std::string diffOf(TensorType type, const std::vector<T> &a,
                     const std::vector<T> &b) const {
    writeStep("x", "t", type, a);
    writeStep("y", "t", type, b);
    auto diff = diffCheckpoints(path("x"), path("y"));
    std::filesystem::remove_all(path("x"));
    std::filesystem::remove_all(path("y"));
    return diff.ok() ? diff->text : diff.error().where();
  }
  template <typename T> static std::string errorOf(const T &result) {
    return result.ok() ? "ok" : result.error().where();
  }
};

TEST_F(CheckpointToolsTest, list) {
  auto steps = listCheckpoint(path("a"));
  ASSERT_TRUE(steps.ok()) << steps.error().where();
  EXPECT_EQ(std::count(steps->begin(), steps->end(), '\n'), 2);
  EXPECT_EQ(steps->find("step_00000002  4 tensors  "), 0u) << *steps;
  EXPECT_NE(steps->find("  model toy-bigram\n"), std::string::npos) << *steps;
  auto one = listCheckpoint(path("a/step_00000004"));
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(*one, "step 4  seed 0  rows read 16  ranks 1  model toy-bigram "
                  "bigram-128\n"
                  "param  F32  [128, 128]  table\n"
                  "optimizer  F32  [128, 128]  table.exp_avg\n"
                  "optimizer  F32  [128, 128]  table.exp_avg_sq\n"
                  "optimizer  I64  []  step\n");
  write("a/step_00000004/MANIFEST.json", "{");
  steps = listCheckpoint(path("a"));
  ASSERT_TRUE(steps.ok());
  EXPECT_NE(steps->find("step_00000004  damaged: "), std::string::npos)
      << *steps;
  EXPECT_EQ(errorOf(listCheckpoint(path("none"))),
            path("none") + ": expects a step directory or a save directory, "
                           "but found none");
  std::filesystem::create_directory(path("empty"));
  EXPECT_EQ(errorOf(listCheckpoint(path("empty"))),
            path("empty") + ": expects a checkpoint, but found none");
}

TEST_F(CheckpointToolsTest, verify) {
  auto good = verifyCheckpoint(path("a"));
  ASSERT_TRUE(good.ok()) << good.error().where();
  EXPECT_EQ(std::count(good->begin(), good->end(), '\n'), 2);
  EXPECT_NE(good->find("step_00000004: ok, step 4, 2 files, "),
            std::string::npos);
  const std::string rank = "a/step_00000002/rank_00000.safetensors";
  std::string bytes = read(rank);
  bytes.back() = char(bytes.back() ^ 16);
  write(rank, bytes);
  auto bad = verifyCheckpoint(path("a"));
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code(), ExitCode::Checkpoint);
  EXPECT_EQ(bad.error().file(), path(rank));
  EXPECT_TRUE(verifyCheckpoint(path("a/step_00000004")).ok());
}

TEST_F(CheckpointToolsTest, aStepThatIsRenamed) {
  std::filesystem::rename(path("a/step_00000004"), path("a/step_00000006"));
  for (const std::string &folder : {path("a"), path("a/step_00000006")}) {
    const std::string error = "/MANIFEST.json: expects step 6, but got 4";
    auto verified = verifyCheckpoint(folder);
    EXPECT_EQ(errorOf(verified), path("a/step_00000006") + error);
    EXPECT_EQ(verified.error().code(), ExitCode::Checkpoint);
    EXPECT_EQ(errorOf(exportCheckpoint(folder, path("out"), TensorType::F32)),
              path("a/step_00000006") + error);
    EXPECT_EQ(errorOf(diffCheckpoints(path("a/step_00000002"), folder)),
              path("a/step_00000006") + error);
  }
  EXPECT_FALSE(exists("out"));
  // A copy with a name of its own is fine.
  std::filesystem::rename(path("a/step_00000006"), path("a/best"));
  EXPECT_EQ(errorOf(verifyCheckpoint(path("a/best"))), "ok");
}

TEST_F(CheckpointToolsTest, whatCannotBeReadIsAStorageError) {
  rlimit before, none;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  none = before;
  none.rlim_cur = 0;
  for (const std::string &folder : {path("a"), path("a/step_00000002")}) {
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    auto verified = verifyCheckpoint(folder);
    Status exported = exportCheckpoint(folder, path("out"), TensorType::F32);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_FALSE(verified.ok());
    EXPECT_EQ(verified.error().code(), ExitCode::Storage);
    ASSERT_FALSE(exported.ok());
    EXPECT_EQ(exported.error().code(), ExitCode::Storage);
  }
}

TEST_F(CheckpointToolsTest, whatCannotBeSeenIsNotOverwritten) {
  std::filesystem::create_directory(path("out"));
  std::filesystem::create_symlink("model.safetensors",
                                  path("out/model.safetensors"));
  Status status = exportCheckpoint(path("a"), path("out"), TensorType::F32);
  EXPECT_EQ(errorOf(status), path("out/model.safetensors") +
                                 ": cannot read: too many levels of symbolic "
                                 "links");
}

TEST_F(CheckpointToolsTest, diff) {
  ASSERT_EQ(train({"--steps", "4", "--save-dir", "b"}).status, 0);
  auto same = diffCheckpoints(path("a"), path("b/step_00000004"));
  ASSERT_TRUE(same.ok()) << same.error().where();
  EXPECT_TRUE(same->equal);
  EXPECT_EQ(same->text, "equal\n");
  auto other = diffCheckpoints(path("a/step_00000002"), path("a"));
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->equal);
  EXPECT_EQ(other->text.find("step: 2 against 4\nrows read: 8 against 16\n"
                             "table: "),
            0u)
      << other->text;
  EXPECT_NE(other->text.find("\nstep: 1 of 1 elements differ, largest 2, "
                             "relative 1\n"),
            std::string::npos)
      << other->text;
}

TEST_F(CheckpointToolsTest, diffMeasuresEveryType) {
  const int64_t large = (int64_t(1) << 53) + 1;
  EXPECT_EQ(diffOf<int64_t>(TensorType::I64, {3, 0, large}, {1, 0, large - 1}),
            "t: 2 of 3 elements differ, largest 2, relative 2.48e-16\n");
  EXPECT_EQ(diffOf<int64_t>(TensorType::I64, {INT64_MIN}, {INT64_MAX}),
            "t: 1 of 1 elements differ, largest 1.84e+19, relative 2\n");
  EXPECT_EQ(diffOf<int32_t>(TensorType::I32, {0, 0}, {3, -4}),
            "t: 2 of 2 elements differ, largest 4, relative 5\n");
  EXPECT_EQ(diffOf<double>(TensorType::F64, {1.0}, {1.0 + 0x1p-40}),
            "t: 1 of 1 elements differ, largest 9.09e-13, relative 9.09e-13\n");
  EXPECT_EQ(diffOf<uint16_t>(TensorType::F16, {0x3c00}, {0x4000}), // 1 and 2
            "t: 1 of 1 elements differ, largest 1, relative 1\n");
  EXPECT_EQ(diffOf<float>(TensorType::F32, {1.0f, 1.0f}, {-NAN, 2.0f}),
            "t: 2 of 2 elements differ, largest nan, relative nan\n");
  EXPECT_EQ(diffOf<int16_t>(TensorType::I16, {1, 2}, {1, 3}),
            "t: 1 of 2 elements differ\n");
}

TEST_F(CheckpointToolsTest, exportRefusesToOverflow) {
  writeStep<float>("x", "w", TensorType::F32,
                   {1e5f, -65520.0f, 65519.0f, INFINITY, 1.0f});
  Status half = exportCheckpoint(path("x"), path("h"), TensorType::F16);
  ASSERT_FALSE(half.ok());
  EXPECT_EQ(half.error().code(), ExitCode::Input);
  EXPECT_EQ(half.error().where(),
            path("x") + ": expects weights that F16 can hold, but 2 of 5 "
                        "elements of 'w' are too large");
  EXPECT_EQ(half.error().hintText(), "export with --dtype bf16 or f32");
  EXPECT_FALSE(exists("h/model.safetensors"));
  EXPECT_TRUE(exportCheckpoint(path("x"), path("b"), TensorType::BF16).ok());
  writeStep<float>("y", "w", TensorType::F32, {3.4e38f});
  Status brain = exportCheckpoint(path("y"), path("c"), TensorType::BF16);
  ASSERT_FALSE(brain.ok());
  EXPECT_EQ(brain.error().where(),
            path("y") + ": expects weights that BF16 can hold, but 1 of 1 "
                        "elements of 'w' are too large");
  EXPECT_EQ(brain.error().hintText(), "export with --dtype f32");
}

TEST_F(CheckpointToolsTest, exportWritesWeightsUnderTheirNames) {
  ASSERT_TRUE(exportCheckpoint(path("a"), path("out"), TensorType::F32).ok());
  EXPECT_EQ(list("out"), (Args{"config.json", "model.safetensors"}));
  EXPECT_EQ(read("out/config.json"), "{\"model_type\": \"toy\"}\n");
  auto file = SafetensorsFile::open(path("out/model.safetensors"));
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(file->tensors().size(), 1u);
  EXPECT_EQ(file->tensors()[0].name, "bigram.table");
  EXPECT_EQ(file->metadata(), (StringMap{{"format", "pt"}}));
  auto saved =
      SafetensorsFile::open(path("a/step_00000004/rank_00000.safetensors"));
  ASSERT_TRUE(saved.ok());
  std::vector<float> a(128 * 128), b(a.size());
  ASSERT_TRUE(file->read(file->tensors()[0], a.data()).ok());
  ASSERT_TRUE(saved->read(*saved->find("table"), b.data()).ok());
  EXPECT_EQ(a, b);
  Status again = exportCheckpoint(path("a"), path("out"), TensorType::F32);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().where(),
            path("out/model.safetensors") +
                ": expects a folder without weights, but the file exists");
  EXPECT_EQ(again.error().code(), ExitCode::Usage);
  EXPECT_TRUE(exportCheckpoint(path("a"), path("out"), TensorType::F32,
                               /*overwrites=*/true)
                  .ok());
  // The exported weights are initial weights of the same program.
  EXPECT_EQ(train({"--steps", "1", "--init-from", "out"}).status, 0);
}

TEST_F(CheckpointToolsTest, exportWritesOverNothing) {
  std::filesystem::create_directory(path("mine"));
  write("mine/config.json", "{}");
  Status other = exportCheckpoint(path("a"), path("mine"), TensorType::F32);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().where(),
            path("mine/config.json") +
                ": expects a folder without another file of that name, but "
                "there is one");
  EXPECT_EQ(other.error().code(), ExitCode::Usage);
  EXPECT_EQ(list("mine"), Args{"config.json"});
  // A file with the same content, as in the model's folder, is accepted.
  write("mine/config.json", "{\"model_type\": \"toy\"}\n");
  EXPECT_TRUE(exportCheckpoint(path("a"), path("mine"), TensorType::F32).ok());
  Status inside =
      exportCheckpoint(path("a"), path("a/step_00000004"), TensorType::F32);
  ASSERT_FALSE(inside.ok());
  EXPECT_EQ(inside.error().code(), ExitCode::Usage);
}

TEST_F(CheckpointToolsTest, exportRoundsToHalfPrecision) {
  ASSERT_TRUE(exportCheckpoint(path("a"), path("h"), TensorType::F16).ok());
  ASSERT_TRUE(exportCheckpoint(path("a"), path("b"), TensorType::BF16).ok());
  auto saved =
      SafetensorsFile::open(path("a/step_00000004/rank_00000.safetensors"));
  auto half = SafetensorsFile::open(path("h/model.safetensors"));
  auto brain = SafetensorsFile::open(path("b/model.safetensors"));
  ASSERT_TRUE(saved.ok() && half.ok() && brain.ok());
  float value, f16, bf16;
  const TensorInfo &table = *saved->find("table");
  for (int64_t i = 0; i < 128 * 128; i += 97) {
    ASSERT_TRUE(saved->readFloats(table, i, 1, &value).ok());
    ASSERT_TRUE(half->readFloats(half->tensors()[0], i, 1, &f16).ok());
    ASSERT_TRUE(brain->readFloats(brain->tensors()[0], i, 1, &bf16).ok());
    EXPECT_EQ(f16, halfToFloat(floatToHalf(value)));
    EXPECT_EQ(bf16, bf16ToFloat(floatToBf16(value)));
  }
  // Half weights are initial weights too.
  EXPECT_EQ(train({"--steps", "1", "--init-from", "h"}).status, 0);
}

} // namespace
