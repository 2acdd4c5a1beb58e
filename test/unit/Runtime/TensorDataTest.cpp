//===- TensorDataTest.cpp - A model of named tensors ----------------------===//

#include "ToyTool.h"

using namespace weft;

namespace {

class TensorDataTest : public ToyTest {
protected:
  struct Tensor {
    std::string name;
    TensorType type;
    std::vector<int64_t> shape;
    std::vector<float> values; // stored as 4-byte elements of `type`
  };

  void save(const std::string &name, const std::vector<Tensor> &tensors) {
    std::vector<TensorSpec> specs;
    for (const Tensor &tensor : tensors)
      specs.push_back({tensor.name, tensor.type, tensor.shape});
    auto writer = SafetensorsWriter::create(path(name), specs);
    ASSERT_TRUE(writer.ok());
    for (const Tensor &tensor : tensors) {
      std::vector<int32_t> integers(tensor.values.begin(), tensor.values.end());
      const void *data = tensor.type == TensorType::I32
                             ? static_cast<const void *>(integers.data())
                             : tensor.values.data();
      ASSERT_TRUE(writer->write(data, int64_t(tensor.values.size() * 4)).ok());
    }
    ASSERT_TRUE(writer->finish().ok());
  }

  /// y = 2 x0 - x1 + 0.5 over `rows` rows.
  std::vector<Tensor> rows(int64_t rows) {
    Tensor x{"x", TensorType::F32, {rows, 3}, {}};
    Tensor y{"y", TensorType::F32, {rows}, {}};
    Tensor c{"class", TensorType::I32, {rows}, {}};
    for (int64_t i = 0; i < rows; ++i) {
      float a = float(i % 5) - 2, b = float(i % 3) - 1;
      x.values.insert(x.values.end(), {a, b, float(i % 2)});
      y.values.push_back(2 * a - b + 0.5f);
      c.values.push_back(float(i % 10));
    }
    return {x, y, c};
  }

  void saveWeights(const std::string &name) {
    save(name, {{"w", TensorType::F32, {3}, {0, 0, 0}},
                {"bias", TensorType::F32, {}, {0}}});
  }

  /// A run from the weights in `w.st`.
  ToolResult run(const Args &more) {
    Args args = {"--steps",     "300",  "--lr",       "0.05",
                 "--init-from", "w.st", "--progress", "none"};
    args.insert(args.end(), more.begin(), more.end());
    return linear(args);
  }

  void SetUp() override {
    ToyTest::SetUp();
    saveWeights("w.st");
    save("d.st", rows(30));
  }
};

TEST_F(TensorDataTest, findsTheWeightsOfALine) {
  ASSERT_EQ(run({"--data", "d.st", "--momentum", "0.5", "--save-dir", "ck",
                 "--metrics", "m.jsonl"})
                .status,
            0);
  auto file =
      SafetensorsFile::open(path("ck/step_00000300/rank_00000.safetensors"));
  ASSERT_TRUE(file.ok());
  float w[3], bias;
  ASSERT_TRUE(file->readFloats(*file->find("w"), w).ok());
  ASSERT_TRUE(file->readFloats(*file->find("bias"), &bias).ok());
  EXPECT_NEAR(w[0], 2, 1e-3);
  EXPECT_NEAR(w[1], -1, 1e-3);
  EXPECT_NEAR(w[2], 0, 1e-3);
  EXPECT_NEAR(bias, 0.5, 1e-3);
  EXPECT_TRUE(lines("m.jsonl")[1].find("grad_norm")->isNull());
}

TEST_F(TensorDataTest, badData) {
  auto data = rows(30);
  auto with = [&](std::vector<Tensor> tensors) {
    save("bad.st", tensors);
    return run({"--data", "bad.st"});
  };
  expectError(with({data[0], data[2]}), 3,
              "bad.st: expects a tensor 'y' for the input of that name, but "
              "the file has none\n");
  auto changed = data;
  changed[1].type = TensorType::I32;
  expectError(with(changed), 3,
              "bad.st: tensor 'y' expects type F32, but got I32\n");
  changed = data;
  changed[0].shape = {45, 2};
  expectError(with(changed), 3,
              "bad.st: tensor 'x' expects shape [rows, 3], but got [45, 2]\n");
  changed[0].shape = {90};
  expectError(with(changed), 3,
              "bad.st: tensor 'x' expects shape [rows, 3], but got [90]\n");
  changed = data;
  changed[1].shape = {29};
  changed[1].values.pop_back();
  expectError(with(changed), 3,
              "bad.st: expects as many rows in 'y' as in 'x', 30, but got "
              "29\n");
  changed = data;
  changed[2].values[7] = 10;
  expectError(
      with(changed), 3,
      "bad.st: tensor 'class' expects values from 0 to 9, or -1, but got "
      "10 in row 7\n");
  changed[2].values[7] = -2;
  expectError(
      with(changed), 3,
      "bad.st: tensor 'class' expects values from 0 to 9, or -1, but got "
      "-2 in row 7\n");
  changed[2].values[7] = -1;
  EXPECT_EQ(with(changed).status, 0);
  expectError(with(rows(3)), 3,
              "bad.st: expects at least one batch of training data, 4 rows, "
              "but got 3\n");
  expectError(run({"--data", "d.st", "--val-fraction", "0.1"}), 3,
              "d.st: expects at least one batch of validation data, 4 rows, "
              "but got 3\n");
  expectError(run({"--data", "d.st", "--val-fraction", "0.5"}), 70,
              "the executable has no output 'loss' of program 'eval'\n");
}

TEST_F(TensorDataTest, badInitialWeights) {
  auto with = [&](std::vector<Tensor> tensors) {
    save("w.st", tensors);
    return run({"--data", "d.st"});
  };
  Tensor w{"w", TensorType::F32, {3}, {0, 0, 0}};
  Tensor bias{"bias", TensorType::F32, {}, {0}};
  expectError(with({w}), 3,
              "w.st: expects a tensor 'bias', but the file has none\n");
  expectError(with({w, bias, {"extra", TensorType::F32, {1}, {0}}}), 3,
              "w.st: the model has no parameter for tensor 'extra'\n");
  expectError(with({{"w", TensorType::F32, {1, 3}, {0, 0, 0}}, bias}), 3,
              "w.st: tensor 'w' expects shape [3], but got [1, 3]\n");
  expectError(with({{"w", TensorType::I32, {3}, {0, 0, 0}}, bias}), 3,
              "w.st: tensor 'w' expects type F32, F16, BF16 or F64, but got "
              "I32\n");
  expectError(linear({"--data", "d.st", "--steps", "1", "--init-from", "none"}),
              3, "the program cannot draw initial weights\n");
  write("w.st", "short");
  expectError(run({"--data", "d.st"}), 3, "w.st: ");
}

TEST_F(TensorDataTest, recordedWeightsAreCheckedByTheirDigest) {
  // The toy records 'toy-linear.safetensors' with the digest of zeros.
  Args args = {"--data", "d.st", "--steps", "2", "--progress", "none"};
  expectError(linear(args), 3,
              "cannot find the weights that the program was compiled with, "
              "'toy-linear.safetensors'\n");
  EXPECT_NE(
      linear(args).err.find(
          "\nhint: looked in the program's folder and in the current one; "
          "give the weights with --init-from FILE, draw new ones with "
          "--init-from none, or compile again\n"),
      std::string::npos);
  saveWeights("toy-linear.safetensors");
  auto good = linear(args);
  EXPECT_EQ(good.status, 0) << good.err;
  save("toy-linear.safetensors", {{"w", TensorType::F32, {3}, {0, 0, 1}},
                                  {"bias", TensorType::F32, {}, {0}}});
  expectError(linear(args), 3,
              "toy-linear.safetensors: the weights changed since the program "
              "was compiled: expects digest ");
}

TEST_F(TensorDataTest, recordedWeightsAreFoundBesideTheProgram) {
  std::filesystem::create_directory(path("there"));
  std::filesystem::copy_file(TOY_LINEAR, path("there/program"));
  std::filesystem::create_symlink("there/program", path("link"));
  saveWeights("there/toy-linear.safetensors");
  Args args = {"--data", "d.st", "--steps", "2", "--progress", "none"};
  for (const char *program : {"there/program", "link"}) {
    auto run = finish(start(path(program), args));
    EXPECT_EQ(run.status, 0) << run.err;
  }
}

} // namespace
