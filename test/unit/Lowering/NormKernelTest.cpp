//===- NormKernelTest.cpp - Norms of gradients as generated code ----------===//
//
// Neither processor level nor the way that the work is cut changes a bit.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"
#include "weft/Base/Half.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace weft;

namespace {

using Floats = std::vector<float>;

const double kInf = std::numeric_limits<double>::infinity();

struct Norm {
  double norm = -1.0;
  bool bad = false;
};

Floats randomFloats(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  Floats values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(static_cast<int32_t>(generator())) *
                     0x1p-31f);
  return values;
}

std::string numberText(double value) {
  return std::isinf(value) ? "0x7FF0000000000000" : std::to_string(value);
}

/// Gradients of these lengths and types.
std::string normProgram(const std::vector<int64_t> &counts,
                        const std::vector<std::string> &types, double p) {
  std::string arguments, names, list;
  for (size_t i = 0; i < counts.size(); ++i) {
    const std::string comma = i ? ", " : "", name = "a" + std::to_string(i);
    const std::string type =
        "tensor<" + std::to_string(counts[i]) + "x" + types[i] + ">";
    arguments +=
        comma + "%" + name + ": " + type + " {weft.input = \"" + name + "\"}";
    names += comma + "%" + name;
    list += comma + type;
  }
  return "weft.program @eval(" + arguments +
         ") -> (tensor<f64> {weft.output = \"n\"}, tensor<i1> {weft.output = "
         "\"b\"}) attributes {kind = #weft.kind<eval>} {\n%n, %b = "
         "weft.norm_and_check " +
         names + " {p = " + numberText(p) + " : f64} : " + list +
         "\nweft.return %n, %b : tensor<f64>, tensor<i1>\n}\n";
}

Norm runNorm(CompiledKernels &code, const std::vector<std::string> &grads,
             RunStyle style = {}) {
  Norm norm;
  std::vector<std::string> results = code.runProgram(grads, style);
  std::memcpy(&norm.norm, results[0].data(), 8);
  norm.bad = results[1][0] != 0;
  return norm;
}

/// The norm of f32 gradients.
Norm runNorm(const std::vector<Floats> &grads, double p) {
  std::vector<int64_t> counts;
  std::vector<std::string> bytes;
  for (const Floats &grad : grads) {
    counts.push_back(grad.size());
    bytes.push_back(bytesOf(grad));
  }
  CompiledKernels code(
      normProgram(counts, std::vector<std::string>(grads.size(), "f32"), p));
  return code.ok() ? runNorm(code, bytes) : Norm();
}

double naiveNorm(const std::vector<Floats> &grads, double p) {
  double sum = 0.0, max = 0.0;
  for (const Floats &grad : grads)
    for (float g : grad) {
      sum += std::pow(std::fabs(static_cast<double>(g)), p);
      max = std::max(max, std::fabs(static_cast<double>(g)));
    }
  return std::isinf(p) ? max : std::pow(sum, 1.0 / p);
}

} // namespace

// Lists whose lengths are, and are not, multiples of the rows.
TEST(NormKernels, Orders) {
  const std::vector<int64_t> counts = {1, 16385, 63, 40000};
  std::vector<Floats> grads;
  std::vector<std::string> bytes;
  for (size_t i = 0; i < counts.size(); ++i) {
    grads.push_back(randomFloats(counts[i], i));
    bytes.push_back(bytesOf(grads.back()));
  }
  for (double p : {1.0, 2.0, 3.0, kInf}) {
    double want = 0.0;
    for (const char *level : kLevels) {
      CompiledKernels code(
          normProgram(counts, std::vector<std::string>(counts.size(), "f32"),
                      p),
          level);
      ASSERT_TRUE(code.ok());
      for (RunStyle style : {RunStyle{0, false}, RunStyle{4, true}}) {
        Norm norm = runNorm(code, bytes, style);
        EXPECT_NEAR(norm.norm / naiveNorm(grads, p), 1.0, 1e-12) << p;
        EXPECT_FALSE(norm.bad);
        want = want == 0.0 ? norm.norm : want;
        EXPECT_EQ(norm.norm, want) << p << " on " << level;
      }
    }
  }
}

TEST(NormKernels, FindWhatIsNotFinite) {
  for (double p : {1.0, 2.0, kInf}) {
    CompiledKernels code(normProgram({100, 20000}, {"f32", "f32"}, p));
    ASSERT_TRUE(code.ok());
    for (double value : {double(NAN), kInf, -kInf})
      for (size_t at : {size_t(0), size_t(19999)}) {
        Floats second = randomFloats(20000, 2);
        second[at] = static_cast<float>(value);
        Norm norm =
            runNorm(code, {bytesOf(randomFloats(100, 1)), bytesOf(second)});
        EXPECT_TRUE(norm.bad);
        EXPECT_EQ(std::isnan(norm.norm), std::isnan(value));
        EXPECT_FALSE(std::isfinite(norm.norm));
      }
  }
}

TEST(NormKernels, LargestFloatsAreFinite) {
  for (double p : {1.0, 2.0, 3.0}) {
    Norm norm = runNorm({Floats(1000, 3e38f)}, p);
    EXPECT_FALSE(norm.bad);
    double largest = static_cast<double>(3e38f);
    EXPECT_NEAR(norm.norm / (largest * std::pow(1000.0, 1.0 / p)), 1.0, 1e-12);
  }
}

// Gradients of several types in one norm.
TEST(NormKernels, WidenLowGradients) {
  Floats values = randomFloats(9001, 3), others = randomFloats(5000, 4);
  for (const std::string type : {"f16", "bf16"}) {
    std::vector<uint16_t> low;
    Floats wide;
    for (float value : values) {
      low.push_back(type == "f16" ? floatToHalf(value) : floatToBf16(value));
      wide.push_back(type == "f16" ? halfToFloat(low.back())
                                   : bf16ToFloat(low.back()));
    }
    CompiledKernels code(normProgram({9001, 5000}, {type, "f32"}, 2.0));
    ASSERT_TRUE(code.ok());
    Norm norm = runNorm(code, {bytesOf(low), bytesOf(others)});
    EXPECT_EQ(norm.norm, runNorm({wide, others}, 2.0).norm) << type;
    low[9000] = type == "f16" ? 0x7c00 : 0x7f80; // infinity
    EXPECT_TRUE(runNorm(code, {bytesOf(low), bytesOf(others)}).bad) << type;
  }
}

// Norms of groups: skipped groups are left out unless all are skipped.
TEST(NormKernels, TotalOfGroups) {
  auto total = [](const std::string &p, const std::vector<double> &norms,
                  const std::vector<bool> &skips) {
    CompiledKernels code(
        "weft.program @eval(%a: tensor<f64> {weft.input = \"a\"}, %b: "
        "tensor<f64> {weft.input = \"b\"}, %c: tensor<i1> {weft.input = "
        "\"c\"}, %d: tensor<i1> {weft.input = \"d\"}, %s: tensor<f32> "
        "{weft.input = \"s\"}) -> (tensor<f64> {weft.output = \"n\"}) "
        "attributes {kind = #weft.kind<eval>} {\n%n = weft.total_norm %a, %b "
        "skip %c, %d scale %s {p = " +
        p + " : f64}\nweft.return %n : tensor<f64>\n}\n");
    const float scale = 2.0f;
    std::vector<std::string> inputs;
    for (double norm : norms)
      inputs.emplace_back(reinterpret_cast<const char *>(&norm), 8);
    for (bool skip : skips)
      inputs.emplace_back(1, char(skip));
    inputs.emplace_back(reinterpret_cast<const char *>(&scale), 4);
    double result = 0.0;
    std::memcpy(&result, code.runProgram(inputs).front().data(), 8);
    return result;
  };
  EXPECT_EQ(total("2.0", {3.0, 4.0}, {false, false}), 2.5);
  EXPECT_EQ(total("1.0", {3.0, 4.0}, {false, false}), 3.5);
  EXPECT_EQ(total("0x7FF0000000000000", {3.0, 4.0}, {false, false}), 2.0);
  EXPECT_EQ(total("2.0", {3.0, kInf}, {false, true}), 1.5);
  EXPECT_EQ(total("2.0", {kInf, 1.0}, {true, true}), kInf);
  EXPECT_TRUE(
      std::isnan(total("0x7FF0000000000000", {1.0, NAN}, {true, true})));
}
