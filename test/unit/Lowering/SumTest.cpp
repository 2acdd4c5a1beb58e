//===- SumTest.cpp - Long sums keep their digits --------------------------===//
//
// Sums and means of every loop order against f64. A chain of f32 additions of
// 800,000 equal values is off by 1e-4; the bound here is a few roundings.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

namespace weft {
namespace {

/// A reduction of `shape`; `kept` gives the place of each element's sum.
struct Layout {
  const char *name, *shape, *result, *op;
  int64_t size, sums;
  int64_t (*kept)(int64_t element);
};

const Layout kLayouts[] = {
    {"all", "800000", "", "mean %x dims [0]", 800000, 1,
     [](int64_t) -> int64_t { return 0; }},
    {"odd", "799999", "", "sum %x dims [0]", 799999, 1,
     [](int64_t) -> int64_t { return 0; }},
    {"matrix", "1001x799", "", "sum %x dims [0, 1]", 1001 * 799, 1,
     [](int64_t) -> int64_t { return 0; }},
    {"rows", "3x266667", "3", "mean %x dims [1]", 800001, 3,
     [](int64_t i) { return i / 266667; }},
    {"columns", "50000x19", "19", "sum %x dims [0]", 950000, 19,
     [](int64_t i) { return i % 19; }},
    {"narrow", "400000x2", "2", "mean %x dims [0]", 800000, 2,
     [](int64_t i) { return i % 2; }},
    {"short lanes", "20000x2x20", "2", "sum %x dims [0, 2]", 800000, 2,
     [](int64_t i) { return i / 20 % 2; }},
    {"long lanes", "20x2x20000", "2", "sum %x dims [0, 2]", 800000, 2,
     [](int64_t i) { return i / 20000 % 2; }},
    {"broad", "4000x2x100", "2x100", "sum %x dims [0]", 800000, 200,
     [](int64_t i) { return i % 200; }},
};

std::string makeText() {
  std::string text;
  for (const Layout &layout : kLayouts) {
    std::string name = std::to_string(&layout - kLayouts);
    std::string type = std::string("tensor<") + layout.shape + "xf32>";
    std::string rank = *layout.result ? "x" : "";
    std::string result = "tensor<" + (layout.result + rank) + "f32>";
    text += "weft.program @p" + name + "(%x: " + type +
            " {weft.input = \"x\"}) -> (" + result +
            " {weft.output = \"y\"}) attributes {kind = #weft.kind<eval>} {\n"
            "%y = weft.reduce " +
            layout.op + " : " + type + "\nweft.return %y : " + result + "\n}\n";
  }
  return text;
}

/// Largest error of a sum, relative to the sum of magnitudes.
double errorOf(const Layout &layout, const std::vector<float> &values,
               const std::string &bytes) {
  std::vector<double> sums(layout.sums), magnitudes(layout.sums);
  for (int64_t i = 0; i < layout.size; ++i) {
    sums[layout.kept(i)] += values[i];
    magnitudes[layout.kept(i)] += std::fabs(values[i]);
  }
  bool isMean = layout.op[0] == 'm';
  double count = static_cast<double>(layout.size) / layout.sums, worst = 0;
  for (int64_t i = 0; i < layout.sums; ++i) {
    float got;
    std::memcpy(&got, bytes.data() + i * sizeof(float), sizeof(float));
    double total = isMean ? got * count : got;
    worst = std::max(worst, std::fabs(total - sums[i]) / magnitudes[i]);
  }
  return worst;
}

class Sums : public ::testing::Test {
protected:
  void check(const std::vector<float> &values, double bound) {
    for (size_t i = 0; i < std::size(kLayouts); ++i) {
      const Layout &layout = kLayouts[i];
      KernelOp kernel = compiled.kernels()[i];
      std::string bytes(reinterpret_cast<const char *>(values.data()),
                        layout.size * sizeof(float));
      std::string whole = compiled.run(kernel, {bytes}, {}).front();
      EXPECT_LE(errorOf(layout, values, whole), bound) << layout.name;
      EXPECT_EQ(whole, compiled.run(kernel, {bytes}, {20, true}).front())
          << layout.name;
    }
  }

  CompiledKernels compiled{makeText()};
};

constexpr int64_t kMost = 950000;

TEST_F(Sums, OfEqualValues) {
  ASSERT_TRUE(compiled.ok());
  ASSERT_EQ(compiled.kernels().size(), std::size(kLayouts));
  for (float value : {0.1f, 1.1f, 2.7182817f, 3.3333333e-5f, 7777.77f})
    check(std::vector<float>(kMost, value), 2e-7);
}

TEST_F(Sums, OfRandomValues) {
  ASSERT_TRUE(compiled.ok());
  std::mt19937 random(11);
  std::uniform_real_distribution<float> positive(0.0f, 1.0f);
  std::normal_distribution<float> any;
  std::vector<float> values(kMost);
  for (float &value : values)
    value = positive(random);
  check(values, 2e-7);
  for (float &value : values)
    value = any(random);
  check(values, 2e-7);
}

/// Large values first: what follows must not be lost beside them.
TEST_F(Sums, OfSmallValuesAfterALargeOne) {
  ASSERT_TRUE(compiled.ok());
  std::vector<float> values(kMost, 1e-3f);
  for (int64_t i = 0; i < 200; ++i)
    values[i] = 1e4f;
  check(values, 3e-7);
}

/// A reduction of `shape`, alone and of a product with a vector of ones, which
/// keeps the loop over `lanes` elements apart from those around it.
struct Steps {
  const char *shape, *dims, *result, *lanes;
  int64_t size, numLanes;
};

const Steps kSteps[] = {
    {"7x64", "0, 1", "", "64", 448, 64},                // one block
    {"128x64", "0, 1", "", "64", 8192, 64},             // several steps of one
    {"24x32", "0, 1", "", "32", 768, 32},               // blocks of 24 chunks
    {"32x32", "0, 1", "", "32", 1024, 32},              // blocks of 32 chunks
    {"6x1024", "0, 1", "", "1024", 6144, 1024},         // blocks within a step
    {"5x3x8x80", "0, 2, 3", "3", "80", 9600, 80},       // rows of 640
    {"5x3x4x1024", "0, 2, 3", "3", "1024", 61440, 1024} // rows of 4096
};

/// The loops that fusion chooses do not change a bit.
TEST(SumOrder, FollowsTheShapeAlone) {
  std::string text;
  for (size_t i = 0; i < std::size(kSteps); ++i) {
    const Steps &steps = kSteps[i];
    std::string type = std::string("tensor<") + steps.shape + "xf32>";
    std::string ones = std::string("tensor<") + steps.lanes + "xf32>";
    std::string result =
        std::string("tensor<") + steps.result + (*steps.result ? "x" : "");
    for (bool isAlone : {true, false})
      text +=
          "weft.program @p" + std::to_string(2 * i + !isAlone) +
          "(%x: " + type + " {weft.input = \"x\"}, %one: " + ones +
          " {weft.input = \"one\"}) -> (" + result +
          "f32> {weft.output = \"y\"}) attributes {kind = "
          "#weft.kind<eval>} {\n" +
          (isAlone ? ""
                   : "%z = weft.mul %x, %one : " + type + ", " + ones + "\n") +
          "%y = weft.reduce sum " + (isAlone ? "%x" : "%z") + " dims [" +
          steps.dims + "] : " + type + "\nweft.return %y : " + result +
          "f32>\n}\n";
  }
  CompiledKernels compiled(text);
  ASSERT_TRUE(compiled.ok());
  ASSERT_EQ(compiled.kernels().size(), 2 * std::size(kSteps));
  std::mt19937 random(5);
  std::normal_distribution<float> any;
  for (size_t i = 0; i < std::size(kSteps); ++i) {
    std::vector<float> values(kSteps[i].size);
    std::vector<float> ones(kSteps[i].numLanes, 1.0f);
    for (float &value : values)
      value = any(random);
    auto bytesOf = [](const std::vector<float> &numbers) {
      return std::string(reinterpret_cast<const char *>(numbers.data()),
                         numbers.size() * sizeof(float));
    };
    KernelOp alone = compiled.kernels()[2 * i];
    KernelOp split = compiled.kernels()[2 * i + 1];
    ASSERT_GT(split.getSizes().size(), alone.getSizes().size())
        << kSteps[i].shape;
    EXPECT_TRUE(compiled.run(alone, {bytesOf(values)}, {}) ==
                compiled.run(split, {bytesOf(values), bytesOf(ones)}, {}))
        << kSteps[i].shape;
  }
}

} // namespace
} // namespace weft
