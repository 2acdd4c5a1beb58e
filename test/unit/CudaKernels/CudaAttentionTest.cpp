//===- CudaAttentionTest.cpp - Attention of CUDA against f64 --------------===//

#include "AttentionChecks.h"

#include <tuple>

using namespace weft;

using Case = AttentionCase;

namespace {
class CudaAttention : public AttentionTest {};
} // namespace

TEST_P(CudaAttention, Lengths) {
  for (int64_t t : {1, 64, 65, 131})
    for (int64_t causal : {0, 1}) {
      Case c = make();
      c.b = 1, c.h = c.hkv = 1, c.t = c.s = t, c.d = 64;
      c.causal = causal, c.range = 2.0f;
      checkAttention(c);
    }
}

TEST_P(CudaAttention, HeadSizes) {
  for (int64_t d : {7, 64, 72, 136, 255, 256}) {
    Case c = make();
    c.b = 1, c.h = c.hkv = 1, c.t = c.s = 40, c.d = d;
    checkAttention(c);
  }
}

TEST_P(CudaAttention, LengthsThatDiffer) {
  for (int64_t causal : {0, 1})
    for (auto [t, s] : {std::pair(30, 100), {70, 30}, {1, 70}, {70, 1}}) {
      Case c = make();
      c.b = 1, c.h = c.hkv = 1, c.t = t, c.s = s, c.causal = causal;
      checkAttention(c);
    }
}

TEST_P(CudaAttention, GroupedHeads) {
  for (int64_t hkv : {1, 2, 4})
    for (int64_t d : {16, 128}) {
      Case c = make();
      c.t = c.s = 20, c.h = 4, c.hkv = hkv, c.d = d, c.b = 1 + (d == 16);
      checkAttention(c);
    }
}

TEST_P(CudaAttention, StridesAndAddresses) {
  for (int64_t d : {8, 13})
    for (auto [gap, rowGap] : {std::pair(0, 0), {3, 5}, {8, 16}})
      for (size_t shift : {0, 1, 8}) {
        Case c = make();
        c.b = 1, c.t = 10, c.s = 17, c.d = d, c.gap = gap, c.rowGap = rowGap;
        c.headsFirst = shift != 1, c.shift = shift;
        checkAttention(c);
      }
}

TEST_P(CudaAttention, Variants) {
  for (int64_t window : {0, 1, 70})
    for (int64_t documents : {0, 4, -2})
      for (int64_t causal : {0, 1}) {
        Case c = make();
        c.b = 1, c.t = c.s = 132, c.causal = causal, c.window = window;
        c.documents = documents, c.softcap = causal ? 0.7 : 0.0;
        c.d = documents == 4 ? 72 : 8, c.dropout = window == 70 ? 0.3 : 0.0;
        c.h = 1 + (window == 1), c.hkv = 1;
        checkAttention(c, /*slack=*/2.0);
      }
}

// A query gives keys of another document no gradient at all.
TEST_P(CudaAttention, NothingAcrossDocuments) {
  Case c = make();
  c.b = 1, c.h = c.hkv = 1, c.t = c.s = 256, c.documents = 2, c.causal = 0;
  AttentionInputs inputs(c);
  inputs.dout.assign(inputs.dout.size(), 0.0f);
  inputs.dout[0] = 1.0f;
  AttentionResult r = attentionOfCuda(c, inputs);
  for (int64_t i = 128 * c.d; i < 256 * c.d; ++i) {
    EXPECT_EQ(r.dk[i], 0.0);
    EXPECT_EQ(r.dv[i], 0.0);
  }
  EXPECT_NE(relativeError(r.dv, Doubles(r.dv.size(), 0.0)), 0.0);
}

// Whichever block and thread runs first.
TEST_P(CudaAttention, SameBitsInAnyOrder) {
  Case c = make();
  c.t = c.s = 70, c.hkv = 1, c.b = 1;
  AttentionInputs inputs(c);
  AttentionResult a = attentionOfCuda(c, inputs);
  AttentionResult b = attentionOfCuda(c, inputs);
  EXPECT_EQ(a.out, b.out);
  EXPECT_EQ(a.lse, b.lse);
  EXPECT_EQ(a.dq, b.dq);
  EXPECT_EQ(a.dk, b.dk);
  EXPECT_EQ(a.dv, b.dv);
}

// Fewer keys than queries: the first queries see none.
TEST_P(CudaAttention, RowsWithoutKeys) {
  Case c = make();
  c.b = 1, c.h = c.hkv = 1, c.t = 80, c.s = 10;
  AttentionResult r = attentionOfCuda(c, AttentionInputs(c));
  for (int64_t i = 0; i < 70; ++i) {
    EXPECT_EQ(r.lse[i], -INFINITY);
    EXPECT_EQ(r.out[i * c.d], 0.0);
    EXPECT_EQ(r.dq[i * c.d], 0.0);
  }
  EXPECT_TRUE(std::isfinite(r.lse[70]));
}

// A masked score is no NaN with a scale of 0, and -inf with one below it.
TEST_P(CudaAttention, AnyScale) {
  for (double factor : {0.0, -0.5}) {
    Case c = make();
    c.b = 1, c.t = c.s = 40, c.d = 64, c.factor = factor;
    checkValues(c);
  }
}

TEST_P(CudaAttention, LargeScores) {
  Case c = make();
  c.t = c.s = 40, c.range = 30.0f, c.causal = 0;
  checkAttention(c, /*slack=*/10.0); // lse is about 500 and has 24 bits
}

// The largest score is the logarithm of the sum to the bit: e^0 is 1.
TEST_P(CudaAttention, OneKeyOfAnySize) {
  for (float range : {1e-4f, 1.0f, 30.0f, 900.0f, 8208.0f, 37856.0f})
    for (int64_t d : {8, 64, 72, 256}) {
      Case c = make();
      c.b = 2, c.t = 7, c.s = 1, c.d = d, c.causal = 0, c.range = range;
      SCOPED_TRACE(describe(c));
      AttentionInputs inputs(c);
      AttentionResult r = attentionOfCuda(c, inputs);
      for (int64_t i = 0; i < c.b * c.t * c.h * c.d; ++i) {
        int64_t b = i / (c.t * c.h * c.d);
        EXPECT_EQ(r.out[i], inputs.v[b * c.h * c.d + i % (c.h * c.d)]);
      }
      AttentionResult want = attentionInF64(c, inputs);
      EXPECT_LT(relativeError(r.lse, want.lse), 1e-5);
    }
}

/// The error of dv where there is one key, and the largest score.
std::pair<double, double> oneKeyBackward(Case c, int64_t d, float range) {
  c.b = 4, c.t = 20, c.s = 1, c.d = d, c.causal = 0, c.range = range;
  AttentionInputs inputs(c);
  AttentionResult want = attentionInF64(c, inputs);
  double most = 0.0;
  for (double score : want.lse)
    most = std::max(most, std::abs(score));
  return {relativeError(attentionOfCuda(c, inputs).dv, want.dv), most};
}

// The same backward, from lse. Low types scale it to base 2 and back, which
// gives the score again where that was scaled by log2(e) and a power of 2.
TEST_P(CudaAttention, OneKeyBackward) {
  const int64_t dtype = make().dtype;
  for (float range : {30.0f, 900.0f, 8208.0f})
    EXPECT_LT(oneKeyBackward(make(), 64, range).first, attentionBound(dtype))
        << range;
  for (float range : {30.0f, 100.0f, 900.0f}) {
    auto [error, most] = oneKeyBackward(make(), 128, range);
    const double rounded = dtype == WEFT_F32 ? 0.0 : most * 0x1p-23;
    EXPECT_LT(error, attentionBound(dtype) + rounded) << range;
  }
}

// A non-finite input reaches every result that depends on it, and no other.
TEST_P(CudaAttention, NotFinite) {
  for (auto [t, dropout] : {std::pair(20, 0.0), {70, 0.0}, {72, 0.3}})
    for (float bad : {NAN, INFINITY})
      for (int which : {0, 1, 2, 3}) {
        Case c = make();
        c.b = 1, c.t = c.s = t, c.causal = t == 20, c.dropout = dropout;
        SCOPED_TRACE(describe(c));
        AttentionInputs inputs(c);
        Floats *tensors[] = {&inputs.q, &inputs.k, &inputs.v, &inputs.dout};
        constexpr int64_t row = 12;
        inputs.q[row * c.h * c.d] = 1.0f; // a score of -inf would be no harm
        (*tensors[which])[row * c.h * c.d] = bad; // head 0
        AttentionResult r = attentionOfCuda(c, inputs);
        auto isFinite = [&](const Doubles &values, int64_t i, int64_t h) {
          return std::isfinite(values[(i * c.h + h) * c.d]);
        };
        EXPECT_EQ(isFinite(r.out, row, 0), which == 3) << which << bad;
        EXPECT_FALSE(isFinite(r.dq, row, 0)) << which << bad;
        EXPECT_FALSE(isFinite(r.dk, row, 0)) << which << bad;
        for (const Doubles &some : {r.out, r.dq, r.dk, r.dv})
          for (int64_t i = 0; i < c.t; ++i)
            EXPECT_TRUE(isFinite(some, i, 1));
      }
}

INSTANTIATE_TEST_SUITE_P(Types, CudaAttention,
                         testing::Values(WEFT_F32, WEFT_F16, WEFT_BF16),
                         typeName);

/// Type, head size, dropout or not, stored or not: kernels of their own.
class CudaAttentionKernels
    : public testing::TestWithParam<std::tuple<int64_t, int64_t, int>> {};

// So many tiles on both sides that every buffer of a block is used again: no
// barrier is without effect (test/campaigns/barriers.py).
TEST_P(CudaAttentionKernels, SeveralTiles) {
  auto [dtype, d, drops] = GetParam();
  Case c;
  c.dtype = dtype, c.d = d, c.dropout = drops ? 0.3 : 0.0, c.causal = 0;
  c.storesBits = drops == 2;
  c.b = 1, c.h = c.hkv = 1, c.t = c.s = d <= 64 ? 130 : 70;
  checkAttention(c);
}

INSTANTIATE_TEST_SUITE_P(
    All, CudaAttentionKernels,
    testing::Combine(testing::Values(WEFT_F32, WEFT_F16, WEFT_BF16),
                     testing::Values(8, 72, 136), testing::Values(0, 1, 2)));
