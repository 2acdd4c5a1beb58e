//===- AttentionExponentialTest.cpp - Probabilities of attention ----------===//

#include "Harness.h"

using namespace weft;

// Of two scores 0 and x the second has the probability e^x / (1 + e^x).
TEST(Attention, ExponentialIsAccurate) {
  constexpr int64_t count = 200000;
  Floats q(count, 1.0f), k(2 * count, 0.0f), v(2 * count, 0.0f);
  for (int64_t i = 0; i < count; ++i) {
    k[2 * i + 1] = -87.0f * static_cast<float>(i) / count;
    v[2 * i + 1] = 1.0f;
  }
  const WeftHeadStrides one = {1, 1, 1}, two = {2, 1, 1};
  for (CpuIsa isa : kAllIsas) {
    TestContext context(1, isa);
    Floats out(count), lse(count);
    callOk(context, weft_cpu_attention,
           {q.data(), k.data(), v.data(), out.data(), lse.data()},
           WeftAttentionRecord{count, 1, 2, 1, 1, 1, 0, 0, WEFT_F32, 1.0, 0.0,
                               one, two, two, one, /*hasBits=*/0});
    double worst = 0.0;
    for (int64_t i = 0; i < count; ++i) {
      double power = std::exp(static_cast<double>(k[2 * i + 1]));
      double want = power / (1.0 + power);
      worst = std::max(worst, std::fabs(out[i] - want) / want);
    }
    EXPECT_LT(worst, 4e-7) << cpuIsaName(isa);
    EXPECT_EQ(out[0], 0.5f);
  }
}
