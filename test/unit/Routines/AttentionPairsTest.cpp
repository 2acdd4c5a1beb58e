//===- AttentionPairsTest.cpp - Attention by dot products of bf16 ---------===//
//
// The same attention of bf16 twice: by dot products of pairs, and widened to
// f32. They differ by the rounding of probabilities and of dS.
//
//===----------------------------------------------------------------------===//

#include "AttentionCases.h"
#include "Bf16Instructions.h"

using namespace weft;
using namespace weft::attention;

namespace {

Result runPairs(const Case &c, int threads, int64_t shift = 0) {
  TestContext context(threads);
  EXPECT_TRUE(usesBf16Pairs(context));
  return run(c, context, WEFT_BF16, shift);
}

/// By vectors of AVX2, which know no dot products.
Result runWidened(const Case &c) {
  TestContext context(1, CpuIsa::Avx2);
  EXPECT_FALSE(usesBf16Pairs(context));
  return run(c, context, WEFT_BF16);
}

float largestOf(const Floats &values) {
  float largest = 0.0f;
  for (float value : values)
    largest = std::max(largest, std::fabs(value));
  return largest;
}

/// Largest difference in units of the largest value.
double differenceOf(const Floats &got, const Floats &want) {
  EXPECT_EQ(got.size(), want.size());
  double worst = 0.0;
  for (size_t i = 0; i < got.size(); ++i) {
    double difference = std::fabs(double(got[i]) - want[i]);
    worst = difference <= worst ? worst : difference; // keeps a NaN
  }
  return worst / largestOf(want);
}

void check(const Case &c) {
  SCOPED_TRACE(testing::Message()
               << "b " << c.b << " t " << c.t << " s " << c.s << " h " << c.h
               << " hkv " << c.hkv << " d " << c.d << " causal " << c.causal
               << " dropout " << c.dropout << " window " << c.window
               << " softcap " << c.softcap << " documents " << c.documents);
  Result pairs = runPairs(c, 1), wide = runWidened(c);
  // One rounding of each probability and one of the result.
  EXPECT_LT(differenceOf(pairs.out, wide.out), 2 * roundingError(WEFT_BF16));
  // Scores differ only in the order of sums.
  EXPECT_LT(differenceOf(pairs.lse, wide.lse), 2e-6);
  // out, which delta reads, P or dS, and the result.
  EXPECT_LT(differenceOf(pairs.dq, wide.dq), 3 * roundingError(WEFT_BF16));
  for (const Result &other :
       {runPairs(c, 2), runPairs(c, 3), runPairs(c, 2, /*shift=*/1)}) {
    EXPECT_TRUE(sameBits(pairs.out, other.out));
    EXPECT_TRUE(sameBits(pairs.lse, other.lse));
    EXPECT_TRUE(sameBits(pairs.dq, other.dq));
  }
}

class AttentionPairs : public testing::Test {
  void SetUp() override {
    if (!usesBf16Pairs(TestContext(1)))
      GTEST_SKIP() << "the processor has no AVX512_BF16";
  }
};

} // namespace

TEST_F(AttentionPairs, Sizes) {
  for (int64_t t : {1, 2, 7, 17, 63, 64, 65, 130})
    for (int64_t d : {2, 6, 20, 64, 128})
      for (int64_t causal : {0, 1}) {
        Case c;
        c.b = 1, c.t = c.s = t, c.d = d, c.causal = causal;
        check(c);
      }
}

TEST_F(AttentionPairs, MoreKeysThanQueries) {
  for (int64_t causal : {0, 1}) {
    Case c;
    c.b = 1, c.t = 30, c.s = 101, c.causal = causal;
    check(c);
  }
}

TEST_F(AttentionPairs, GroupedHeads) {
  for (int64_t hkv : {1, 2, 4}) {
    Case c;
    c.t = c.s = 70, c.h = 4, c.hkv = hkv, c.d = 16;
    check(c);
  }
}

TEST_F(AttentionPairs, Variants) {
  for (int64_t window : {0, 1, 40, 90})
    for (int64_t documents : {0, 3, -2})
      for (int64_t causal : {0, 1}) {
        Case c;
        c.t = c.s = 150, c.causal = causal, c.window = window;
        c.documents = documents, c.softcap = causal ? 0.7 : 0.0;
        c.dropout = window == 40 ? 0.25 : 0.0;
        check(c);
      }
}

// Words are packed of two neighbours along a head.
TEST_F(AttentionPairs, OddHeadsAreWidened) {
  Case c;
  c.t = c.s = 70, c.d = 7;
  Result pairs = runPairs(c, 1), wide = runWidened(c);
  EXPECT_LT(differenceOf(pairs.lse, wide.lse), 2e-6);
  EXPECT_LT(differenceOf(pairs.out, wide.out), roundingError(WEFT_BF16));
}

// Fewer keys than queries: the first queries see none.
TEST_F(AttentionPairs, RowsWithoutKeys) {
  Case c;
  c.b = 1, c.h = c.hkv = 1, c.t = 80, c.s = 10;
  Result r = runPairs(c, 2);
  for (int64_t i = 0; i < 70; ++i) {
    EXPECT_EQ(r.lse[i], -INFINITY);
    EXPECT_EQ(r.out[i * c.d], 0.0f);
    EXPECT_EQ(r.dq[i * c.qRow()], 0.0f);
  }
  for (float x : r.dq)
    EXPECT_TRUE(std::isfinite(x));
}

// The processor's dot products take subnormals as zero: so the scores tell
// which instructions made them.
TEST_F(AttentionPairs, SubnormalsAreZero) {
  TestContext context(1);
  Elements q({0x1p-130f, 0.0f}, WEFT_BF16), k({0x1p100f, 0.0f}, WEFT_BF16);
  Elements v({1.0f, 1.0f}, WEFT_BF16), out({NAN, NAN}, WEFT_BF16);
  Floats lse(1, NAN);
  WeftHeadStrides dense = {2, 2, 2};
  callOk(context, weft_cpu_attention,
         {q.data(), k.data(), v.data(), out.data(), lse.data()},
         WeftAttentionRecord{1, 1, 1, 1, 1, 2, 0, 0, WEFT_BF16, 0x1p30, 0.0,
                             dense, dense, dense, dense});
  EXPECT_EQ(lse[0], 0.0f);
}

TEST_F(AttentionPairs, NanReachesTheOutput) {
  TestContext context(1);
  Elements q({1, 1, 1, 1}, WEFT_BF16), k({NAN, 1, 1, 1}, WEFT_BF16);
  Elements v({3, 3, 5, 5}, WEFT_BF16), out({0, 0, 0, 0}, WEFT_BF16);
  Floats lse(2);
  WeftHeadStrides dense = {4, 2, 2};
  callOk(context, weft_cpu_attention,
         {q.data(), k.data(), v.data(), out.data(), lse.data()},
         WeftAttentionRecord{1, 2, 2, 1, 1, 2, 0, 0, WEFT_BF16, 1.0, 0.0, dense,
                             dense, dense, dense});
  for (float x : out.values())
    EXPECT_TRUE(std::isnan(x));
}
