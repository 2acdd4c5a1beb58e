//===- LossScaleTest.cpp - New loss scale, norm over groups ---------------===//

#include "Harness.h"

using namespace weft;

namespace {

using Policy = WeftScalerPolicy;
constexpr Policy kTorch = WEFT_SCALER_TORCH, kMmcv = WEFT_SCALER_MMCV,
                 kDeepSpeed = WEFT_SCALER_DEEPSPEED,
                 kFused = WEFT_SCALER_DEEPSPEED_FUSED,
                 kColossalAI = WEFT_SCALER_COLOSSALAI;

struct ScalerTest {
  Policy policy = kTorch;
  float scale = 16.0f;
  int64_t interval = 3, hysteresis = 1, consecutive = 0;
  double growth = 2.0, backoff = 0.5, minimum = 0.0;
  int64_t state[3] = {0, 0, 0};
  uint8_t exhausted = 0;

  ScalerTest(Policy policy, int64_t hysteresis)
      : policy(policy), hysteresis(hysteresis) {
    if (policy != kTorch)
      state[2] = hysteresis;
    if (policy != kTorch && policy != kColossalAI)
      state[1] = -1;
  }

  float step(uint8_t bad) {
    TestContext context;
    callOk(context, weft_cpu_scaler_update,
           {&scale, state, &bad, &scale, state, &exhausted},
           WeftScalerUpdateRecord{policy, interval, hysteresis, consecutive,
                                  growth, backoff, minimum});
    return scale;
  }

  Floats trace(const std::vector<uint8_t> &overflows) {
    Floats scales;
    for (uint8_t bad : overflows)
      scales.push_back(step(bad));
    return scales;
  }
};

const std::vector<uint8_t> kOverflows = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0};

} // namespace

TEST(Scaler, Torch) {
  EXPECT_EQ(ScalerTest(kTorch, 1).trace(kOverflows),
            (Floats{16, 16, 32, 16, 16, 16, 8, 4, 4, 4, 8}));
}

TEST(Scaler, DeepSpeedSparesTheFirstOverflow) {
  EXPECT_EQ(ScalerTest(kDeepSpeed, 2).trace(kOverflows),
            (Floats{16, 16, 32, 32, 32, 32, 16, 8, 8, 8, 16}));
}

TEST(Scaler, MmcvIgnoresHysteresis) {
  Floats scales = {16, 16, 32, 16, 16, 16, 8, 4, 4, 4, 8};
  EXPECT_EQ(ScalerTest(kMmcv, 1).trace(kOverflows), scales);
}

// DynamicLossScaler asks for its own hysteresis before what is left.
TEST(Scaler, HysteresisOneSparesNothing) {
  for (Policy policy : {kMmcv, kDeepSpeed}) {
    ScalerTest test(policy, 1);
    test.state[2] = 3;
    EXPECT_EQ(test.trace({1, 1, 0}), (Floats{8, 4, 4}));
    EXPECT_EQ(test.state[2], 3);
  }
}

TEST(Scaler, ConsecutiveHysteresisIsRefilledByCleanSteps) {
  ScalerTest test(kDeepSpeed, 2);
  test.consecutive = 1;
  EXPECT_EQ(test.trace(kOverflows),
            (Floats{16, 16, 32, 32, 32, 32, 32, 16, 16, 16, 32}));
}

TEST(Scaler, FusedDeepSpeedGrowsOneStepLater) {
  ScalerTest test(kFused, 1);
  EXPECT_EQ(test.trace(kOverflows),
            (Floats{16, 16, 16, 8, 8, 8, 4, 2, 2, 2, 2}));
  EXPECT_EQ(test.step(0), 4.0f);
}

TEST(Scaler, ColossalAIRefillsHysteresisByGrowth) {
  ScalerTest test(kColossalAI, 2);
  EXPECT_EQ(test.trace(kOverflows),
            (Floats{16, 16, 32, 32, 32, 32, 16, 8, 8, 8, 16}));
}

// A run may continue with a shorter interval than the count it finds.
TEST(Scaler, GrowsFromACountBeyondTheInterval) {
  ScalerTest torch(kTorch, 1);
  torch.state[0] = 4;
  EXPECT_EQ(torch.trace({0, 0, 0, 0, 1}), (Floats{32, 32, 32, 64, 32}));
  EXPECT_EQ(torch.state[0], 0);
  for (Policy policy : {kDeepSpeed, kMmcv}) {
    ScalerTest modulo(policy, 1);
    modulo.state[0] = 4;
    EXPECT_EQ(modulo.trace({0, 0, 0, 0, 0}), (Floats{16, 32, 32, 32, 64}));
  }
}

TEST(Scaler, CountsHysteresisIn64Bits) {
  ScalerTest test(kDeepSpeed, (int64_t(1) << 32) + 1);
  EXPECT_EQ(test.trace({1, 1, 1}), (Floats{16, 16, 16}));
  EXPECT_EQ(test.state[2], (int64_t(1) << 32) - 2);
}

TEST(Scaler, GrowsOnlyToFiniteScales) {
  for (Policy policy : {kTorch, kDeepSpeed}) {
    ScalerTest test(policy, 1);
    test.interval = 1;
    test.growth = 16.0;
    test.scale = 1e38f;
    EXPECT_EQ(test.trace({0, 0}), (Floats{1e38f, 1e38f}));
  }
}

TEST(Scaler, ExhaustedAtTheMinimum) {
  ScalerTest test(kDeepSpeed, 1);
  test.scale = 4.0f;
  test.minimum = 1.0;
  EXPECT_EQ(test.trace({1, 1}), (Floats{2, 1}));
  EXPECT_EQ(test.exhausted, 0);
  EXPECT_EQ(test.step(1), 1.0f);
  EXPECT_EQ(test.exhausted, 1);
}

TEST(Scaler, ExhaustedAtZero) {
  ScalerTest test(kTorch, 1);
  test.scale = 1.0f;
  for (int i = 0; i < 149; ++i)
    EXPECT_GT(test.step(1), 0.0f);
  EXPECT_EQ(test.exhausted, 0);
  EXPECT_EQ(test.step(1), 0.0f);
  EXPECT_EQ(test.exhausted, 1);
}

TEST(Scaler, Errors) {
  float scale = 1.0f;
  int64_t state[3] = {};
  uint8_t flag = 0;
  expectError(70, "expects policy of at least 0 and at most 4, but got 5",
              weft_cpu_scaler_update,
              {&scale, state, &flag, &scale, state, &flag},
              WeftScalerUpdateRecord{5, 1, 1, 0, 2.0, 0.5, 0.0});
  expectError(70, "expects consecutive of at least 0 and at most 1, but got 2",
              weft_cpu_scaler_update,
              {&scale, state, &flag, &scale, state, &flag},
              WeftScalerUpdateRecord{1, 1, 1, 2, 2.0, 0.5, 0.0});
  expectError(70, "expects interval of at least 1, but got 0",
              weft_cpu_scaler_update,
              {&scale, state, &flag, &scale, state, &flag},
              WeftScalerUpdateRecord{0, 0, 1, 0, 2.0, 0.5, 0.0});
}

namespace {
double totalNorm(const Doubles &norms, const std::vector<uint8_t> &skips,
                 double p, const float *scale = nullptr) {
  TestContext context;
  double out = -1.0;
  std::vector<const void *> buffers;
  for (const double &norm : norms)
    buffers.push_back(&norm);
  for (const uint8_t &skip : skips)
    buffers.push_back(&skip);
  buffers.push_back(&out);
  if (scale)
    buffers.push_back(scale);
  callOk(context, weft_cpu_total_norm, buffers,
         WeftTotalNormRecord{p, static_cast<int64_t>(norms.size()),
                             scale != nullptr});
  return out;
}
} // namespace

TEST(TotalNorm, LeavesSkippedGroupsOut) {
  float scale = 2.0f;
  EXPECT_EQ(totalNorm({3.0, 4.0}, {0, 0}, 2.0), 5.0);
  EXPECT_EQ(totalNorm({3.0, 4.0}, {0, 0}, 1.0), 7.0);
  EXPECT_EQ(totalNorm({3.0, 4.0}, {0, 0}, INFINITY), 4.0);
  EXPECT_EQ(totalNorm({3.0, 4.0}, {0, 0}, 2.0, &scale), 2.5);
  EXPECT_EQ(totalNorm({0.1, INFINITY}, {0, 1}, 3.0), 0.1);
  EXPECT_EQ(totalNorm({INFINITY}, {1}, 2.0, &scale), INFINITY);
  EXPECT_TRUE(std::isnan(totalNorm({1.0, NAN}, {1, 1}, INFINITY)));
}

TEST(TotalNorm, Errors) {
  double norm = 1.0, out;
  uint8_t skip = 0;
  expectError(70, "expects 4 buffers, but got 3", weft_cpu_total_norm,
              {&norm, &skip, &out}, WeftTotalNormRecord{2.0, 1, 1});
  expectError(70,
              "expects number of norms of at least 1 and at most 1073741822, "
              "but got 0",
              weft_cpu_total_norm, {&out}, WeftTotalNormRecord{2.0, 0, 0});
}

TEST(Clip, UnscalesToo) {
  TestContext context;
  auto coefficient = [&](double norm, double limit, float scale) {
    float coef = -1.0f;
    callOk(context, weft_cpu_clip_coefficient, {&norm, &limit, &coef, &scale},
           WeftClipRecord{1});
    return coef;
  };
  EXPECT_EQ(coefficient(4.0, 1.0, 8.0f),
            static_cast<float>(1.0 / (4.0 + 1e-6)) * 0.125f);
  EXPECT_EQ(coefficient(4.0, 0.0, 3.0f), static_cast<float>(1.0 / 3.0));
  EXPECT_EQ(coefficient(INFINITY, 1.0, 4.0f), 0.25f);
  double norm = 1.0, limit = 0.0;
  float coef = -1.0f, tiny = 0x1p-130f;
  expectError(6,
              "expects a loss scale with a finite inverse, but the scale has "
              "underflowed",
              weft_cpu_clip_coefficient, {&norm, &limit, &coef, &tiny},
              WeftClipRecord{1});
  EXPECT_EQ(coef, -1.0f);
  expectError(70, "expects 4 buffers, but got 3", weft_cpu_clip_coefficient,
              {&norm, &limit, &coef}, WeftClipRecord{1});
}
