//===- UpdateKernelTest.cpp - Updates and norms as generated code ---------===//
//
// References are the documented formulas in double. Neither processor level nor
// the way that the work is cut changes a bit.
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
using Doubles = std::vector<double>;

template <typename T> std::string numberBytes(T value) {
  return {reinterpret_cast<const char *>(&value), sizeof(T)};
}
template <typename T> std::vector<T> valuesOf(const std::string &bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}
template <typename T> T numberOf(const std::string &bytes) {
  return valuesOf<T>(bytes).front();
}

Floats randomFloats(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  Floats values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(static_cast<int32_t>(generator())) *
                     0x1p-31f);
  return values;
}

/// Elements of a type, rounded from f32, and back.
std::string rounded(const Floats &values, const std::string &type) {
  if (type == "f32")
    return bytesOf(values);
  std::vector<uint16_t> bits;
  for (float value : values)
    bits.push_back(type == "f16" ? floatToHalf(value) : floatToBf16(value));
  return bytesOf(bits);
}
Floats widened(const std::string &bytes, const std::string &type) {
  if (type == "f32")
    return valuesOf<float>(bytes);
  Floats values;
  for (uint16_t bits : valuesOf<uint16_t>(bytes))
    values.push_back(type == "f16" ? halfToFloat(bits) : bf16ToFloat(bits));
  return values;
}

double largestError(const Floats &got, const Doubles &want) {
  double most = 0.0;
  for (size_t i = 0; i < want.size(); ++i)
    most = std::max(most, std::fabs(got[i] - want[i]));
  return most;
}

/// A program of one op with these operands and results.
std::string makeProgram(const std::string &op,
                        const std::vector<std::string> &operands,
                        const std::vector<std::string> &results) {
  std::string arguments, outputs, values, types;
  for (size_t i = 0; i < operands.size(); ++i)
    arguments += (i ? ", %a" : "%a") + std::to_string(i) + ": " + operands[i] +
                 " {weft.input = \"a" + std::to_string(i) + "\"}";
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string comma = i ? ", " : "", number = std::to_string(i);
    outputs += comma + results[i] + " {weft.output = \"o" + number + "\"}";
    values += comma + "%r#" + number;
    types += comma + results[i];
  }
  return "weft.program @eval(" + arguments + ") -> (" + outputs +
         ") attributes {kind = #weft.kind<eval>} {\n%r:" +
         std::to_string(results.size()) + " = weft." + op + "\nweft.return " +
         values + " : " + types + "\n}\n";
}

std::string join(const std::vector<std::string> &list) {
  std::string text;
  for (const std::string &each : list)
    text += (text.empty() ? "" : ", ") + each;
  return text;
}

/// "%a0, %a1, ..."
std::string argumentList(size_t begin, size_t end) {
  std::vector<std::string> names;
  for (size_t i = begin; i < end; ++i)
    names.push_back("%a" + std::to_string(i));
  return join(names);
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

struct Types {
  std::string param = "f32", grad = "f32", working;
};

/// A parameter, its moments and the numbers of its update.
struct Update {
  std::string rule;
  int64_t count;
  Types types;
  bool nesterov = false, skip = false;
  double lr = 1e-2, decay = 0.1, beta1 = 0.9, beta2 = 0.99, eps = 1e-8;
  double lrScale = 0.5, decayScale = 1.0;
  float coef = 0.25f;
  int64_t step = 1;
  std::string param, working;
  Floats first, second;

  Update(const std::string &rule, int64_t count, Types types = {})
      : rule(rule), count(count), types(std::move(types)),
        param(rounded(randomFloats(count, 1), this->types.param)), first(count),
        second(count) {}

  bool isSgd() const { return rule == "sgd"; }
  std::string text() const;
  /// Runs `code`, the program of text().
  void run(CompiledKernels &code, const std::string &grad, RunStyle style = {});
};

std::string Update::text() const {
  auto list = [&](const std::string &type) {
    return "tensor<" + std::to_string(count) + "x" + type + ">";
  };
  std::vector<std::string> states = {list(types.param), list("f32")};
  if (!isSgd())
    states.push_back(list("f32"));
  std::vector<std::string> operands = states, results = states;
  operands.insert(operands.end(), {list(types.grad), "tensor<f32>",
                                   "tensor<i1>", "tensor<i64>"});
  operands.insert(operands.end(), isSgd() ? 3 : 5, "tensor<f64>");
  if (!types.working.empty())
    results.push_back(list(types.working));
  std::string attributes =
      "lr_scale = " + std::to_string(lrScale) +
      " : f64, decay_scale = " + std::to_string(decayScale) + " : f64";
  return makeProgram(rule + "(" + argumentList(0, operands.size()) + ") {" +
                         attributes + (nesterov ? ", nesterov" : "") + "} : (" +
                         join(operands) + ") -> (" + join(results) + ")",
                     operands, results);
}

void Update::run(CompiledKernels &code, const std::string &grad,
                 RunStyle style) {
  std::vector<std::string> inputs = {param, bytesOf(first)};
  if (!isSgd())
    inputs.push_back(bytesOf(second));
  inputs.insert(inputs.end(),
                {grad, numberBytes(coef), numberBytes(skip), numberBytes(step),
                 numberBytes(lr), numberBytes(decay), numberBytes(beta1)});
  if (!isSgd())
    inputs.insert(inputs.end(), {numberBytes(beta2), numberBytes(eps)});
  std::vector<std::string> results = code.runProgram(inputs, style);
  param = results[0];
  first = valuesOf<float>(results[1]);
  if (!isSgd())
    second = valuesOf<float>(results[2]);
  if (!types.working.empty())
    working = results.back();
}

/// Five updates by the formulas of PyTorch's documentation.
Doubles adamReference(const Update &u) {
  Floats start = valuesOf<float>(u.param);
  Doubles p(start.begin(), start.end()), m(p.size()), v(p.size());
  double lr = u.lr * u.lrScale, decay = u.decay * u.decayScale;
  for (int t = 1; t <= 5; ++t) {
    Floats grad = randomFloats(u.count, 10 + t);
    for (size_t i = 0; i < p.size(); ++i) {
      double g = grad[i] * static_cast<double>(u.coef);
      if (u.rule == "adamw")
        p[i] *= 1.0 - lr * decay;
      else
        g += decay * p[i];
      m[i] = u.beta1 * m[i] + (1.0 - u.beta1) * g;
      v[i] = u.beta2 * v[i] + (1.0 - u.beta2) * g * g;
      double mHat = m[i] / (1.0 - std::pow(u.beta1, t));
      double vHat = v[i] / (1.0 - std::pow(u.beta2, t));
      p[i] -= lr * mHat / (std::sqrt(vHat) + u.eps);
    }
  }
  return p;
}

Doubles sgdReference(const Update &u) {
  Floats start = valuesOf<float>(u.param);
  Doubles p(start.begin(), start.end()), b(p.size());
  for (int t = 1; t <= 5; ++t) {
    Floats grad = randomFloats(u.count, 10 + t);
    for (size_t i = 0; i < p.size(); ++i) {
      double g = grad[i] * static_cast<double>(u.coef) + u.decay * p[i];
      b[i] = t == 1 ? g : u.beta1 * b[i] + g;
      p[i] -= u.lr * u.lrScale * (u.nesterov ? g + u.beta1 * b[i] : b[i]);
    }
  }
  return p;
}

/// Five updates on every level and cut in every way; the first bits of all.
void expectUpdates(const Update &start, const Doubles &reference) {
  std::string want;
  for (const char *level : kLevels) {
    CompiledKernels code(start.text(), level);
    ASSERT_TRUE(code.ok());
    for (RunStyle style : {RunStyle{0, false}, RunStyle{4, true}}) {
      Update u = start;
      for (u.step = 1; u.step <= 5; ++u.step)
        u.run(code, bytesOf(randomFloats(u.count, 10 + u.step)), style);
      EXPECT_LT(largestError(valuesOf<float>(u.param), reference), 1e-6);
      if (want.empty())
        want = u.param;
      EXPECT_TRUE(u.param == want) << u.rule << " on " << level;
    }
  }
}

} // namespace

TEST(UpdateKernels, AdamAndAdamW) {
  for (const char *rule : {"adam", "adamw"})
    for (int64_t count : {1, 7, 65, 9001}) {
      Update start(rule, count);
      expectUpdates(start, adamReference(start));
    }
}

TEST(UpdateKernels, Sgd) {
  for (bool nesterov : {false, true})
    for (double momentum : {0.0, 0.9}) {
      Update start("sgd", 5001);
      start.nesterov = nesterov;
      start.beta1 = momentum;
      start.first.assign(start.count, NAN); // not read at step 1
      expectUpdates(start, sgdReference(start));
    }
}

// torch.optim.AdamW(lr=0.1, weight_decay=0.5), param 1, grad 2, first step:
// 1 * (1 - 0.05) - 0.1 * 1 / (1 + eps) = 0.85.
TEST(UpdateKernels, FirstStepByHand) {
  Update u("adamw", 1);
  u.lrScale = 1.0;
  CompiledKernels code(u.text());
  ASSERT_TRUE(code.ok());
  u.param = bytesOf(Floats{1.0f});
  u.lr = 0.1, u.decay = 0.5, u.coef = 1.0f;
  u.run(code, bytesOf(Floats{2.0f}));
  EXPECT_NEAR(numberOf<float>(u.param), 0.85, 1e-6);
  EXPECT_NEAR(u.first[0], 0.2, 1e-7);
  EXPECT_NEAR(u.second[0], 0.04, 1e-7);
}

// torch.lerp starts from the nearer end: without beta1 the mean is the
// gradient, however large the one before was.
TEST(UpdateKernels, NoFirstMoment) {
  Update u("adamw", 1);
  CompiledKernels code(u.text());
  ASSERT_TRUE(code.ok());
  u.beta1 = 0.0, u.coef = 1.0f, u.step = 2;
  u.first = {1e8f};
  u.run(code, bytesOf(Floats{0.3f}));
  EXPECT_EQ(u.first[0], 0.3f);
}

// A skipped first step has number 0. The working copy is written all the same.
TEST(UpdateKernels, SkipsEverything) {
  for (const char *rule : {"adam", "adamw", "sgd"})
    for (const char *working : {"", "bf16"}) {
      Update u(rule, 3000, {"f32", "f32", working});
      CompiledKernels code(u.text());
      ASSERT_TRUE(code.ok());
      u.first = randomFloats(u.count, 5), u.second = randomFloats(u.count, 6);
      u.skip = true, u.step = 0;
      Update before = u;
      u.run(code, bytesOf(Floats(u.count, NAN)));
      EXPECT_TRUE(u.param == before.param) << rule;
      EXPECT_TRUE(bytesOf(u.first) == bytesOf(before.first)) << rule;
      EXPECT_TRUE(bytesOf(u.second) == bytesOf(before.second)) << rule;
      if (*working)
        EXPECT_TRUE(u.working ==
                    rounded(valuesOf<float>(before.param), "bf16"));
    }
}

// Operands are widened, arithmetic is in f32, results are rounded once.
TEST(UpdateKernels, RoundLowTypesOnce) {
  for (const std::string type : {"f16", "bf16"})
    for (const std::string &paramType : {type, std::string("f32")})
      for (const char *rule : {"adam", "adamw", "sgd"})
        for (const char *level : kLevels) {
          Update low(rule, 2001, {paramType, type, type}), wide(rule, 2001);
          wide.param = bytesOf(widened(low.param, paramType));
          std::string grad = rounded(randomFloats(low.count, 2), type);
          CompiledKernels lowCode(low.text(), level),
              wideCode(wide.text(), level);
          ASSERT_TRUE(lowCode.ok() && wideCode.ok());
          low.step = wide.step = 3;
          low.run(lowCode, grad);
          wide.run(wideCode, bytesOf(widened(grad, type)));
          Floats param = valuesOf<float>(wide.param);
          EXPECT_TRUE(low.param == rounded(param, paramType)) << rule << type;
          EXPECT_TRUE(low.working ==
                      rounded(widened(low.param, paramType), type));
          EXPECT_TRUE(bytesOf(low.first) == bytesOf(wide.first));
          EXPECT_TRUE(bytesOf(low.second) == bytesOf(wide.second));
        }
}
