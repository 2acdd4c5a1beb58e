//===- OptimizerTest.cpp - Norms, clipping, updates -----------------------===//

#include "Harness.h"

using namespace weft;

namespace {

struct Norm {
  double norm = -1.0;
  uint8_t bad = 7;
};

Norm runNorm(const std::vector<Floats> &grads, double p, int threads,
             CpuIsa isa = CpuIsa::Avx512) {
  TestContext context(threads, isa);
  Norm result;
  std::vector<const void *> buffers;
  std::vector<WeftNormPart> parts;
  for (const Floats &grad : grads) {
    buffers.push_back(grad.data());
    parts.push_back({static_cast<int64_t>(grad.size()), WEFT_F32});
  }
  buffers.push_back(&result.norm);
  buffers.push_back(&result.bad);
  callOk(
      context, weft_cpu_norm_and_check, buffers,
      {WeftNormAndCheckRecord{p, static_cast<int64_t>(parts.size())}, parts});
  return result;
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

TEST(Norm, Orders) {
  std::vector<Floats> grads = {randomFloats(1, 1), randomFloats(16385, 2),
                               randomFloats(63, 3), Floats(),
                               randomFloats(40000, 4)};
  for (double p : {1.0, 2.0, 3.0, 2.5, static_cast<double>(INFINITY)}) {
    Norm one = runNorm(grads, p, 1);
    EXPECT_NEAR(one.norm / naiveNorm(grads, p), 1.0, 1e-12);
    EXPECT_EQ(one.bad, 0);
    for (CpuIsa isa : kAllIsas)
      EXPECT_EQ(runNorm(grads, p, 3, isa).norm, one.norm);
  }
}

TEST(Norm, FindsWhatIsNotFinite) {
  for (float value : {static_cast<float>(NAN), static_cast<float>(INFINITY),
                      -static_cast<float>(INFINITY)})
    for (double p : {1.0, 2.0, static_cast<double>(INFINITY)})
      for (size_t at : {size_t(0), size_t(19999)})
        for (CpuIsa isa : kAllIsas) {
          std::vector<Floats> grads = {randomFloats(100, 1),
                                       randomFloats(20000, 2)};
          grads[1][at] = value;
          Norm result = runNorm(grads, p, 2, isa);
          EXPECT_EQ(result.bad, 1);
          EXPECT_EQ(std::isnan(result.norm), std::isnan(value));
          EXPECT_FALSE(std::isfinite(result.norm));
        }
}

TEST(Norm, LargestFloatsAreFinite) {
  std::vector<Floats> grads = {Floats(1000, 3e38f)};
  Norm result = runNorm(grads, 2.0, 2);
  EXPECT_EQ(result.bad, 0);
  EXPECT_NEAR(result.norm / (3e38 * std::sqrt(1000.0)), 1.0, 1e-6);
}

TEST(Norm, Errors) {
  float x[2] = {};
  auto expect = [&](const std::string &message,
                    const std::vector<const void *> &buffers, double p,
                    WeftNormPart part) {
    expectError(
        70, message, weft_cpu_norm_and_check, buffers,
        {WeftNormAndCheckRecord{p, 1}, std::vector<WeftNormPart>{part}});
  };
  expect("expects p above 0, but got -1.000000", {x, x, x}, -1.0,
         {2, WEFT_F32});
  expect("expects 3 buffers, but got 2", {x, x}, 2.0, {2, WEFT_F32});
  expect("expects elements of at least 0, but got -1", {x, x, x}, 2.0,
         {-1, WEFT_F32});
  expect("expects gradients of dtype f32 (0), f16 (2) or bf16 (3), but got 1",
         {x, x, x}, 2.0, {2, WEFT_F64});
}

TEST(Clip, Coefficient) {
  TestContext context;
  auto coefficient = [&](double norm, double limit) {
    float coef = -1.0f;
    callOk(context, weft_cpu_clip_coefficient, {&norm, &limit, &coef},
           WeftClipRecord{0});
    return coef;
  };
  EXPECT_EQ(coefficient(4.0, 1.0), static_cast<float>(1.0 / (4.0 + 1e-6)));
  EXPECT_EQ(coefficient(0.5, 1.0), 1.0f);
  EXPECT_EQ(coefficient(0.0, 1.0), 1.0f);
  EXPECT_EQ(coefficient(100.0, 0.0), 1.0f);
  EXPECT_EQ(coefficient(INFINITY, 1.0), 1.0f);
  EXPECT_EQ(coefficient(NAN, 1.0), 1.0f);
}

TEST(Step, Increment) {
  TestContext context;
  int64_t step = 41;
  uint8_t bad = 1, good = 0;
  callOk(context, weft_cpu_step_increment, {&step, &bad, &step},
         WeftStepRecord{});
  EXPECT_EQ(step, 41);
  callOk(context, weft_cpu_step_increment, {&step, &good, &step},
         WeftStepRecord{});
  EXPECT_EQ(step, 42);
}

namespace {

struct Optimizer {
  double lr = 1e-2, decay = 0.1, beta1 = 0.9, beta2 = 0.99, eps = 1e-8;
  double lrScale = 0.5, decayScale = 1.0, momentum = 0.9;
  float coef = 0.25f;
  uint8_t bad = 0;
  int64_t step = 0;
  Floats param, first, second;
  explicit Optimizer(int64_t count)
      : param(randomFloats(count, 1)), first(count), second(count) {}
  int64_t count() const { return static_cast<int64_t>(param.size()); }
  void adam(WeftContext &context, WeftLibraryFn routine, const Floats &grad) {
    callOk(
        context, routine,
        {param.data(), first.data(), second.data(), grad.data(), &coef, &bad,
         &step, &lr, &decay, &beta1, &beta2, &eps},
        WeftAdamRecord{count(), WEFT_F32, WEFT_F32, -1, lrScale, decayScale});
  }
  void sgd(WeftContext &context, const Floats &grad, bool nesterov) {
    callOk(context, weft_cpu_sgd,
           {param.data(), first.data(), grad.data(), &coef, &bad, &step, &lr,
            &decay, &momentum},
           WeftSgdRecord{count(), nesterov, WEFT_F32, WEFT_F32, -1, lrScale,
                         decayScale});
  }
};

/// Five updates in double of the documented formulas.
Doubles adamReference(const Optimizer &o, bool decoupled) {
  Doubles p(o.param.begin(), o.param.end()), m(p.size()), v(p.size());
  double lr = o.lr * o.lrScale, decay = o.decay * o.decayScale;
  for (int t = 1; t <= 5; ++t) {
    Floats grad = randomFloats(p.size(), 10 + t);
    for (size_t i = 0; i < p.size(); ++i) {
      double g = grad[i] * static_cast<double>(o.coef);
      if (decoupled)
        p[i] *= 1.0 - lr * decay;
      else
        g += decay * p[i];
      m[i] = o.beta1 * m[i] + (1.0 - o.beta1) * g;
      v[i] = o.beta2 * v[i] + (1.0 - o.beta2) * g * g;
      double mHat = m[i] / (1.0 - std::pow(o.beta1, t));
      double vHat = v[i] / (1.0 - std::pow(o.beta2, t));
      p[i] -= lr * mHat / (std::sqrt(vHat) + o.eps);
    }
  }
  return p;
}

} // namespace

TEST(Optimizer, AdamAndAdamW) {
  for (WeftLibraryFn routine : {weft_cpu_adam, weft_cpu_adamw})
    for (int64_t count : {1, 7, 65, 40001}) {
      Floats want;
      for (CpuIsa isa : kAllIsas)
        for (int threads : {1, 2}) {
          TestContext context(threads, isa);
          Optimizer o(count);
          Doubles reference = adamReference(o, routine == weft_cpu_adamw);
          for (o.step = 1; o.step <= 5; ++o.step)
            o.adam(context, routine, randomFloats(count, 10 + o.step));
          EXPECT_LT(largestError(o.param, reference), 1e-6);
          if (want.empty())
            want = o.param;
          EXPECT_TRUE(sameBits(o.param, want));
        }
    }
}

// torch.optim.AdamW(lr=0.1, weight_decay=0.5), param 1, grad 2, first step:
// 1 * (1 - 0.05) - 0.1 * 1 / (1 + eps) = 0.85.
TEST(Optimizer, FirstStepByHand) {
  TestContext context(1);
  Optimizer o(1);
  o.param = {1.0f};
  o.lr = 0.1, o.lrScale = 1.0, o.decay = 0.5, o.coef = 1.0f, o.step = 1;
  o.adam(context, weft_cpu_adamw, {2.0f});
  EXPECT_NEAR(o.param[0], 0.85, 1e-6);
  EXPECT_NEAR(o.first[0], 0.2, 1e-7);
  EXPECT_NEAR(o.second[0], 0.04, 1e-7);
}

// torch.lerp starts from the nearer end: without beta1 the mean is the
// gradient, however large the one before was.
TEST(Optimizer, NoFirstMoment) {
  TestContext context(1);
  Optimizer o(1);
  o.beta1 = 0.0, o.coef = 1.0f, o.step = 2;
  o.first = {1e8f};
  o.adam(context, weft_cpu_adamw, {0.3f});
  EXPECT_EQ(o.first[0], 0.3f);
}

TEST(Optimizer, Sgd) {
  for (bool nesterov : {false, true})
    for (double momentum : {0.0, 0.9})
      for (int threads : {1, 2}) {
        TestContext context(threads);
        Optimizer o(20001);
        o.momentum = momentum;
        o.first.assign(20001, NAN); // not read at step 1
        Doubles p(o.param.begin(), o.param.end()), b(p.size());
        double lr = o.lr * o.lrScale;
        for (o.step = 1; o.step <= 5; ++o.step) {
          Floats grad = randomFloats(p.size(), 10 + o.step);
          o.sgd(context, grad, nesterov);
          for (size_t i = 0; i < p.size(); ++i) {
            double g = grad[i] * static_cast<double>(o.coef) + o.decay * p[i];
            b[i] = o.step == 1 ? g : momentum * b[i] + g;
            p[i] -= lr * (nesterov ? g + momentum * b[i] : b[i]);
          }
        }
        EXPECT_LT(largestError(o.param, p), 1e-6);
      }
}

TEST(Optimizer, BadSkipsEverything) {
  TestContext context(2);
  Optimizer o(100);
  o.bad = 1, o.step = 0; // a skipped first step has number 0
  Optimizer before = o;
  Floats grad(100, NAN);
  o.adam(context, weft_cpu_adamw, grad);
  o.adam(context, weft_cpu_adam, grad);
  o.sgd(context, grad, false);
  EXPECT_TRUE(sameBits(o.param, before.param));
  EXPECT_TRUE(sameBits(o.first, before.first));
  EXPECT_TRUE(sameBits(o.second, before.second));
}

TEST(Optimizer, Errors) {
  float x[1] = {};
  uint8_t bad = 0;
  int64_t step = 0;
  double number = 0.0;
  expectError(
      70, "expects step of at least 1, but got 0", weft_cpu_adamw,
      {x, x, x, x, x, &bad, &step, &number, &number, &number, &number, &number},
      WeftAdamRecord{1, WEFT_F32, WEFT_F32, -1, 1.0, 1.0});
  expectError(70, "expects 12 buffers, but got 1", weft_cpu_adam, {x},
              WeftAdamRecord{1, WEFT_F32, WEFT_F32, -1, 1.0, 1.0});
  expectError(70, "expects 9 buffers, but got 1", weft_cpu_sgd, {x},
              WeftSgdRecord{1, 0, WEFT_F32, WEFT_F32, -1, 1.0, 1.0});
}
