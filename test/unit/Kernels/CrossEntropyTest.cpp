//===- CrossEntropyTest.cpp - Losses against a naive reference ------------===//

#include "IsaLoops.h"

using namespace weft;

namespace {

struct Case {
  int64_t n = 4, v = 10, ignored = -100, isSum = 0;
  bool weights = false, wide = false;
  double smoothing = 0.0;
  WeftCrossEntropyRecord record() const {
    return {n,        v,        ignored,
            isSum,    weights,  wide ? WEFT_I64 : WEFT_I32,
            WEFT_F32, smoothing};
  }
};

struct Data {
  Floats logits, weights;
  Ints targets;
  std::vector<int32_t> narrow;
  explicit Data(const Case &c)
      : logits(randomFloats(c.n * c.v, 1)), weights(randomFloats(c.v, 2)) {
    for (float &x : logits)
      x *= 8.0f;
    for (float &w : weights)
      w = w + 1.5f;
    for (int64_t i = 0; i < c.n; ++i)
      targets.push_back(i % 5 == 3 ? c.ignored : (i * 7 + 1) % c.v);
    narrow.assign(targets.begin(), targets.end());
  }
  const void *targetData(const Case &c) const {
    return c.wide ? static_cast<const void *>(targets.data()) : narrow.data();
  }
};

struct Result {
  float loss = NAN, denominator = NAN;
  Floats lse, gradient;
};

constexpr float kDloss = 0.5f;

Result run(const Case &c, const Data &data, int threads, CpuIsa isa,
           bool inPlace = false) {
  TestContext context(threads, isa);
  Result r;
  r.lse.assign(c.n, NAN);
  std::vector<const void *> forward = {data.logits.data(), data.targetData(c),
                                       &r.loss, r.lse.data(), &r.denominator};
  if (c.weights)
    forward.push_back(data.weights.data());
  callOk(context, weft_cpu_cross_entropy, forward, c.record());
  r.gradient = inPlace ? data.logits : Floats(c.n * c.v, NAN);
  std::vector<const void *> backward = {&kDloss,
                                        inPlace ? r.gradient.data()
                                                : data.logits.data(),
                                        data.targetData(c),
                                        r.lse.data(),
                                        &r.denominator,
                                        r.gradient.data()};
  if (c.weights)
    backward.push_back(data.weights.data());
  callOk(context, weft_cpu_cross_entropy_grad, backward, c.record());
  return r;
}

double lossOf(const Case &c, const Data &data, const Doubles &logits) {
  double total = 0.0, denominator = 0.0;
  for (int64_t n = 0; n < c.n; ++n) {
    if (data.targets[n] == c.ignored)
      continue;
    const double *x = &logits[n * c.v];
    double max = *std::max_element(x, x + c.v), sum = 0.0;
    for (int64_t i = 0; i < c.v; ++i)
      sum += std::exp(x[i] - max);
    double lse = max + std::log(sum);
    auto weight = [&](int64_t i) { return c.weights ? data.weights[i] : 1.0; };
    int64_t y = data.targets[n];
    denominator += weight(y);
    total += (1.0 - c.smoothing) * weight(y) * (lse - x[y]);
    for (int64_t i = 0; i < c.v; ++i)
      total += c.smoothing / c.v * weight(i) * (lse - x[i]);
  }
  return c.isSum ? total : total / denominator;
}

void check(const Case &c, CpuIsa isa) {
  SCOPED_TRACE(testing::Message()
               << "n " << c.n << " v " << c.v << " isa " << cpuIsaName(isa)
               << " weights " << c.weights << " smoothing " << c.smoothing);
  Data data(c);
  Result r = run(c, data, 1, isa);
  Doubles logits(data.logits.begin(), data.logits.end());
  double want = lossOf(c, data, logits);
  EXPECT_NEAR(r.loss, want, 1e-6 * (1.0 + std::fabs(want)));
  for (size_t i = 0; i < logits.size(); i += 1 + logits.size() / 50) {
    double old = logits[i], step = 1e-4;
    logits[i] = old + step;
    double up = lossOf(c, data, logits);
    logits[i] = old - step;
    double down = lossOf(c, data, logits);
    logits[i] = old;
    EXPECT_NEAR(r.gradient[i], kDloss * (up - down) / (2 * step), 2e-6);
  }
  for (const Result &other :
       {run(c, data, 2, isa), run(c, data, 2, isa, /*inPlace=*/true)}) {
    EXPECT_EQ(r.loss, other.loss);
    EXPECT_TRUE(sameBits(r.lse, other.lse));
    EXPECT_TRUE(sameBits(r.gradient, other.gradient));
  }
}

} // namespace

TEST(CrossEntropy, Sizes) {
  for (CpuIsa isa : kAllIsas)
    for (int64_t n : {1, 7, 65})
      for (int64_t v : {1, 2, 7, 63, 64, 65, 1000}) {
        Case c;
        c.n = n, c.v = v;
        check(c, isa);
      }
}

TEST(CrossEntropy, Options) {
  for (CpuIsa isa : kAllIsas)
    for (bool weights : {false, true})
      for (double smoothing : {0.0, 0.1, 1.0})
        for (int64_t isSum : {0, 1}) {
          Case c;
          c.n = 20, c.v = 37, c.weights = weights, c.smoothing = smoothing;
          c.isSum = isSum, c.wide = weights;
          check(c, isa);
        }
}

TEST(CrossEntropy, AllIgnored) {
  Case c;
  c.n = 1;
  Data data(c);
  data.narrow[0] = static_cast<int32_t>(c.ignored);
  Result mean = run(c, data, 1, CpuIsa::Avx512);
  EXPECT_TRUE(std::isnan(mean.loss));
  EXPECT_TRUE(sameBits(mean.gradient, Floats(c.v, 0.0f)));
  c.isSum = 1;
  EXPECT_EQ(run(c, data, 1, CpuIsa::Avx512).loss, 0.0f);
}

TEST(CrossEntropy, NanReachesTheLoss) {
  for (CpuIsa isa : kAllIsas) {
    Case c;
    Data data(c);
    data.logits[2] = NAN;
    EXPECT_TRUE(std::isnan(run(c, data, 1, isa).loss));
  }
}

// The promise of Simd.h: relative error below 1.5e-7, e^0 = 1, 0 below -87.
TEST(CrossEntropy, ExponentialIsAccurate) {
  for (CpuIsa isa : kAllIsas) {
    const Loops *loops = loopsFor(isa);
    if (!loops)
      continue;
    Floats x, y(1 << 16);
    double worst = 0.0;
    for (int piece = 0; piece < 64; ++piece) {
      x.clear();
      for (int i = 0; i < 1 << 16; ++i)
        x.push_back(-87.0f + 175.0f * (piece * 65536 + i) / (64.0f * 65536));
      // Gradient with lse = 0 and scale 1 is e^x away from the target.
      CrossEntropyRow row = {WEFT_F32, x.data(), nullptr, 1 << 16,
                             0,        0.0,      65536.0};
      loops->crossEntropyGradRow(row, 0.0f, 1.0, y.data());
      for (size_t i = 1; i < x.size(); ++i) {
        double want = std::exp(static_cast<double>(x[i]));
        worst = std::max(worst, std::fabs(y[i] - want) / want);
      }
    }
    EXPECT_LT(worst, 1.5e-7) << cpuIsaName(isa);
    x = {0.0f, 0.0f, -87.5f, -INFINITY, -1e30f, NAN, 200.0f, INFINITY};
    CrossEntropyRow row = {WEFT_F32, x.data(), nullptr, 8, 0, 0.0, 8.0};
    loops->crossEntropyGradRow(row, 0.0f, 1.0, y.data());
    EXPECT_EQ(y[1], 1.0f);
    EXPECT_EQ(y[2], 0.0f);
    EXPECT_EQ(y[3], 0.0f);
    EXPECT_EQ(y[4], 0.0f);
    EXPECT_TRUE(std::isnan(y[5]));
    EXPECT_NEAR(y[6] / std::exp(88.0), 1.0, 1e-6);
    EXPECT_EQ(y[6], y[7]);
  }
}

TEST(CrossEntropy, Errors) {
  Case c;
  Data data(c);
  float x[4] = {};
  using Record = WeftCrossEntropyRecord;
  auto expect = [&](int code, const std::string &message, auto change) {
    Record record = c.record();
    change(record);
    expectError(code, message, weft_cpu_cross_entropy,
                {data.logits.data(), data.narrow.data(), x, x, x}, record);
  };
  data.narrow[2] = 10;
  expect(3, "expects targets in [0, 10) or -100, but got 10 at row 2",
         [](Record &) {});
  expect(70, "expects rows of at least 1, but got 0",
         [](Record &r) { r.rows = 0; });
  expect(70, "expects isSum of at least 0 and at most 1, but got 2",
         [](Record &r) { r.isSum = 2; });
  expect(70, "expects 6 buffers, but got 5",
         [](Record &r) { r.hasWeights = 1; });
  expect(70, "expects indices of dtype i32 (5) or i64 (6), but got 0",
         [](Record &r) { r.dtypeTargets = WEFT_F32; });
  expect(70, "expects logits of dtype f32 (0), f16 (2) or bf16 (3), but got 5",
         [](Record &r) { r.dtype = WEFT_I32; });
  expect(70, "expects label smoothing in [0, 1], but got -1.000000",
         [](Record &r) { r.labelSmoothing = -1.0; });
  expectError(3, "expects targets in [0, 10) or -100, but got 10 at row 2",
              weft_cpu_cross_entropy_grad,
              {x, data.logits.data(), data.narrow.data(), x, x, x}, c.record());
}
