//===- MathTest.cpp - Error bounds of the elementary functions ------------===//
//
// Dense samples of each function against double references, in units in the
// last place. docs/explanation/codegen-cpu.md has the same bounds.
//
//===----------------------------------------------------------------------===//

#include "CompiledKernels.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>

namespace weft {
namespace {

constexpr int64_t kSamples = 1 << 16;

/// Distance to `reference` in units of the last place of its float.
double ulps(float value, double reference) {
  float rounded = static_cast<float>(reference);
  if (std::isnan(reference))
    return std::isnan(value) ? 0 : 1e9;
  if (std::isinf(rounded) || rounded == value)
    return rounded == value ? 0 : 1e9;
  float next = std::nextafter(std::fabs(rounded), INFINITY);
  double unit = static_cast<double>(next) - std::fabs(rounded);
  return std::fabs(value - reference) / unit;
}

struct Function {
  const char *name;
  double (*reference)(double);
  double low, high; // samples are spread evenly over the floats in between
  double bound;     // ulp, with fused multiply-add
  double plain;     // ulp, without
};

double relu(double x) { return x > 0 ? x : 0; }

const Function kFunctions[] = {
    {"exp", std::exp, -104, 89, 1.0, 2.0},
    {"log", std::log, 0, 1e38, 1.0, 1.5},
    {"log1p", std::log1p, -0.99, 1e30, 2.5, 3.0},
    {"tanh", std::tanh, -20, 20, 2.0, 2.0},
    {"erf", std::erf, -6, 6, 1.5, 3.0},
    {"sin", std::sin, -1e5, 1e5, 1.0, 1.0},
    {"cos", std::cos, -1e5, 1e5, 1.0, 1.0},
    {"sqrt", std::sqrt, 0, 1e38, 0.5001, 0.5001},
    {"relu", relu, -1e3, 1e3, 0.0, 0.0},
};

/// The float whose place among all floats is `index`.
float fromOrder(int32_t index) {
  int32_t bits = index >= 0 ? index : static_cast<int32_t>(0x80000000) - index;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

int32_t toOrder(float value) {
  int32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits >= 0 ? bits : static_cast<int32_t>(0x80000000) - bits;
}

std::string makeText() {
  std::string text, type = "tensor<" + std::to_string(kSamples) + "xf32>";
  for (const Function &function : kFunctions) {
    std::string name = function.name;
    text += "weft.program @" + name + "_p(%x: " + type +
            " {weft.input = \"x\"}) -> (" + type +
            " {weft.output = \"y\"}) attributes {kind = #weft.kind<eval>} {\n"
            "%y = weft." +
            name + " %x : " + type + "\nweft.return %y : " + type + "\n}\n";
  }
  return text;
}

void checkFunction(CompiledKernels &compiled, KernelOp kernel,
                   const Function &function, double bound) {
  double first = toOrder(static_cast<float>(function.low));
  double last = toOrder(static_cast<float>(function.high));
  std::string bytes;
  std::vector<float> inputs;
  for (int64_t i = 0; i < kSamples; ++i) {
    double at = first + (last - first) * static_cast<double>(i) /
                            static_cast<double>(kSamples - 1);
    inputs.push_back(fromOrder(static_cast<int32_t>(at)));
  }
  bytes.assign(reinterpret_cast<const char *>(inputs.data()),
               inputs.size() * sizeof(float));
  std::string result = compiled.run(kernel, {bytes}, {}).front();
  double worst = 0;
  float where = 0;
  for (int64_t i = 0; i < kSamples; ++i) {
    float value;
    std::memcpy(&value, result.data() + i * sizeof(float), sizeof(float));
    double error = ulps(value, function.reference(inputs[i]));
    if (error > worst) {
      worst = error;
      where = inputs[i];
    }
  }
  EXPECT_LE(worst, bound) << function.name << "(" << where << ")";
  ::testing::Test::RecordProperty(function.name, std::to_string(worst));
}

void checkAll(const char *target, bool hasFma) {
  CompiledKernels compiled(makeText(), target);
  ASSERT_TRUE(compiled.ok());
  std::vector<KernelOp> kernels = compiled.kernels();
  ASSERT_EQ(kernels.size(), std::size(kFunctions));
  for (size_t i = 0; i < kernels.size(); ++i)
    checkFunction(compiled, kernels[i], kFunctions[i],
                  hasFma ? kFunctions[i].bound : kFunctions[i].plain);
}

TEST(Math, BoundsWithFma) { checkAll("cpu:x86-64-v3", true); }
TEST(Math, BoundsWithoutFma) { checkAll("cpu:x86-64-v2", false); }

TEST(Math, SpecialValues) {
  CompiledKernels compiled(makeText());
  ASSERT_TRUE(compiled.ok());
  std::vector<float> inputs(kSamples, 0.0f);
  const float specials[] = {0.0f,    -0.0f,    INFINITY, -INFINITY,
                            NAN,     -1.0f,    1e-42f,   -1e-42f,
                            3.4e38f, -3.4e38f, 88.8f,    -103.9f};
  std::copy(std::begin(specials), std::end(specials), inputs.begin());
  std::string bytes(reinterpret_cast<const char *>(inputs.data()),
                    inputs.size() * sizeof(float));
  std::vector<KernelOp> kernels = compiled.kernels();
  for (size_t f = 0; f < kernels.size(); ++f) {
    const Function &function = kFunctions[f];
    std::string result = compiled.run(kernels[f], {bytes}, {}).front();
    for (size_t i = 0; i < std::size(specials); ++i) {
      float value;
      std::memcpy(&value, result.data() + i * sizeof(float), sizeof(float));
      double reference = function.reference(specials[i]);
      if (function.reference == relu && std::isnan(specials[i]))
        reference = NAN;
      EXPECT_LE(ulps(value, reference), 3.0)
          << function.name << "(" << specials[i] << ") = " << value;
    }
  }
}

//===----------------------------------------------------------------------===//
// Approximate functions
//===----------------------------------------------------------------------===//

constexpr char kApproximate[] = R"(
weft.program @exp_p(%x: tensor<65536xf32> {weft.input = "x"})
    -> (tensor<65536xf32> {weft.output = "y"})
    attributes {kind = #weft.kind<eval>} {
  %y = weft.exp %x {afn} : tensor<65536xf32>
  weft.return %y : tensor<65536xf32>
}
weft.program @tanh_p(%x: tensor<65536xf32> {weft.input = "x"})
    -> (tensor<65536xf32> {weft.output = "y"})
    attributes {kind = #weft.kind<eval>} {
  %y = weft.tanh %x {afn} : tensor<65536xf32>
  weft.return %y : tensor<65536xf32>
}
)";

/// Floats of each sign and exponent: the values of bf16, or values between them
/// with bits in all places. NaNs are among them.
std::vector<float> listFloats(bool areBf16) {
  std::vector<float> values(kSamples);
  for (uint32_t i = 0; i < kSamples; ++i) {
    uint32_t bits = i << 16 | (areBf16 ? 0 : i * 40503 % 65536);
    std::memcpy(&values[i], &bits, sizeof(bits));
  }
  return values;
}

/// The largest share of `bound(x)` by which a result is off.
template <typename Bound>
double worstShare(const std::string &result, const std::vector<float> &inputs,
                  double (*reference)(double), Bound bound) {
  double worst = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    float value;
    std::memcpy(&value, result.data() + i * sizeof(float), sizeof(float));
    const double expected = reference(inputs[i]);
    if (std::isnan(expected) || std::isinf(static_cast<float>(expected))) {
      EXPECT_EQ(std::isnan(value), std::isnan(expected)) << inputs[i];
      EXPECT_TRUE(std::isnan(value) || std::isinf(value)) << inputs[i];
      continue;
    }
    worst = std::max(worst, std::fabs(value - expected) /
                                bound(inputs[i], std::fabs(expected)));
  }
  return worst;
}

void checkApproximate(CompiledKernels &compiled,
                      const std::vector<float> &inputs) {
  std::vector<KernelOp> kernels = compiled.kernels();
  ASSERT_EQ(kernels.size(), 2u);
  std::string bytes(reinterpret_cast<const char *>(inputs.data()),
                    inputs.size() * sizeof(float));
  auto ofExp = [](double x, double y) {
    return y * (0x1p-22 + std::fabs(x) * 0x1p-23) + 0x1p-126;
  };
  std::string result = compiled.run(kernels[0], {bytes}, {}).front();
  EXPECT_LE(worstShare(result, inputs, std::exp, ofExp), 1.0);
  auto ofTanh = [](double, double y) { return y * 0x1p-18 + 0x1p-149; };
  result = compiled.run(kernels[1], {bytes}, {}).front();
  EXPECT_LE(worstShare(result, inputs, std::tanh, ofTanh), 1.0);
}

TEST(Math, Approximate) {
  for (const char *target : {"cpu:x86-64-v2", "cpu:x86-64-v3"}) {
    SCOPED_TRACE(target);
    CompiledKernels compiled(kApproximate, target);
    ASSERT_TRUE(compiled.ok());
    checkApproximate(compiled, listFloats(/*areBf16=*/true));
    checkApproximate(compiled, listFloats(/*areBf16=*/false));
  }
}

//===----------------------------------------------------------------------===//
// Every exponent
//===----------------------------------------------------------------------===//

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double silu(double x) { return x * sigmoid(x); }
double softplus(double x) {
  return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::fabs(x)));
}
double gelu(double x) { return 0.5 * x * (1 + std::erf(x * M_SQRT1_2)); }
double geluTanh(double x) {
  double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

struct Sweep {
  const char *op; // of %x : T
  double (*reference)(double);
  double bound; // ulp, with or without fused multiply-add
  /// Absolute error, relative to |x|, that is no mistake: where the formula
  /// adds 1, as PyTorch's does, or where its exponential overflows.
  double slack = 0;
};

const Sweep kSweeps[] = {
    {"exp %x : T", std::exp, 2.0},
    {"log %x : T", std::log, 1.5},
    {"log1p %x : T", std::log1p, 3.0},
    {"sqrt %x : T", std::sqrt, 0.5001},
    {"rsqrt %x : T", [](double x) { return 1 / std::sqrt(x); }, 1.5},
    {"reciprocal %x : T", [](double x) { return 1 / x; }, 0.5001},
    {"tanh %x : T", std::tanh, 2.0},
    {"erf %x : T", std::erf, 3.0},
    {"sin %x : T", std::sin, 1.0},
    {"cos %x : T", std::cos, 1.0},
    {"pow %x, %x : T, T", [](double x) { return std::pow(x, x); }, 1.0},
    {"sigmoid %x : T", sigmoid, 3.0, 1e-40},
    {"silu %x : T", silu, 3.5, 1e-38},
    {"softplus %x : T", softplus, 3.5},
    {"gelu %x : T", gelu, 3.0, 1.2e-7},
    {"gelu %x {approximate = #weft.gelu_kind<tanh>} : T", geluTanh, 3.0,
     1.2e-7},
};

/// 128 floats of every exponent and sign, with NaN and the infinities.
std::vector<float> everyExponent() {
  std::vector<float> values;
  for (uint32_t i = 0; i < kSamples; ++i) {
    uint32_t mantissa = i % 128 * 0x010204u + i % 128;
    uint32_t bits = (i / 128 << 23) | (mantissa & 0x7FFFFFu);
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    values.push_back(value);
  }
  return values;
}

std::string makeSweeps() {
  std::string text, type = "tensor<" + std::to_string(kSamples) + "xf32>";
  for (const Sweep &sweep : kSweeps) {
    std::string op = sweep.op;
    for (size_t at; (at = op.find('T')) != std::string::npos;)
      op.replace(at, 1, type);
    text += "weft.program @s" + std::to_string(&sweep - kSweeps) +
            "(%x: " + type + " {weft.input = \"x\"}) -> (" + type +
            " {weft.output = \"y\"}) attributes {kind = #weft.kind<eval>} {\n"
            "%y = weft." +
            op + "\nweft.return %y : " + type + "\n}\n";
  }
  return text;
}

class MathLevels : public ::testing::TestWithParam<const char *> {};

TEST_P(MathLevels, EveryExponent) {
  CompiledKernels compiled(makeSweeps(), GetParam());
  ASSERT_TRUE(compiled.ok());
  std::vector<KernelOp> kernels = compiled.kernels();
  ASSERT_EQ(kernels.size(), std::size(kSweeps));
  const std::vector<float> inputs = everyExponent();
  std::string bytes(reinterpret_cast<const char *>(inputs.data()),
                    inputs.size() * sizeof(float));
  for (size_t f = 0; f < kernels.size(); ++f) {
    const Sweep &sweep = kSweeps[f];
    std::string result = compiled.run(kernels[f], {bytes}, {}).front();
    int reported = 0;
    for (int64_t i = 0; i < kSamples && reported < 3; ++i) {
      float value;
      std::memcpy(&value, result.data() + i * sizeof(float), sizeof(float));
      double x = inputs[i], reference = sweep.reference(x);
      bool good = ulps(value, reference) <= sweep.bound ||
                  std::fabs(value - reference) <= sweep.slack * std::fabs(x);
      reported += !good;
      EXPECT_TRUE(good) << sweep.op << " at " << x << " is " << value
                        << " instead of " << reference;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, MathLevels,
                         ::testing::Values("cpu", "cpu:x86-64-v2",
                                           "cpu:x86-64-v3"));

} // namespace
} // namespace weft
