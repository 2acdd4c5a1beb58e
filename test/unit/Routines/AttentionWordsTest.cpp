//===- AttentionWordsTest.cpp - Attention by products of bf16 -------------===//
//
// The same attention of bf16 twice: by the processor's products of bf16 (dot
// products, or the tiles of AMX), and widened to f32. They differ by the
// rounding of probabilities and of dS.
//
//===----------------------------------------------------------------------===//

#include "AttentionCases.h"

using namespace weft;
using namespace weft::attention;

namespace {

class AttentionWords : public testing::TestWithParam<CpuIsa> {
protected:
  void SetUp() override {
    if (TestContext(1, GetParam()).isa() != GetParam())
      GTEST_SKIP() << "the level of the process is below "
                   << cpuIsaName(GetParam());
  }

  static Result runWords(const Case &c, int threads, int64_t shift = 0) {
    TestContext context(threads, GetParam());
    return run(c, context, WEFT_BF16, shift);
  }
  static void check(const Case &c);
};

/// By vectors of AVX2, which know no products of bf16.
Result runWidened(const Case &c) {
  TestContext context(1, CpuIsa::Avx2);
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

void AttentionWords::check(const Case &c) {
  SCOPED_TRACE(testing::Message()
               << "b " << c.b << " t " << c.t << " s " << c.s << " h " << c.h
               << " hkv " << c.hkv << " d " << c.d << " causal " << c.causal
               << " dropout " << c.dropout << " window " << c.window
               << " softcap " << c.softcap << " documents " << c.documents);
  Result words = runWords(c, 1), wide = runWidened(c);
  // One rounding of each probability and one of the result.
  EXPECT_LT(differenceOf(words.out, wide.out), 2 * roundingError(WEFT_BF16));
  // Scores differ only in the order of sums.
  EXPECT_LT(differenceOf(words.lse, wide.lse), 2e-6);
  // out, which delta reads, P or dS, and the result.
  EXPECT_LT(differenceOf(words.dq, wide.dq), 3 * roundingError(WEFT_BF16));
  for (const Result &other :
       {runWords(c, 2), runWords(c, 3), runWords(c, 2, /*shift=*/1)}) {
    EXPECT_TRUE(sameBits(words.out, other.out));
    EXPECT_TRUE(sameBits(words.lse, other.lse));
    EXPECT_TRUE(sameBits(words.dq, other.dq));
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, AttentionWords,
                         testing::Values(CpuIsa::Avx512Bf16, CpuIsa::Amx));

} // namespace

TEST_P(AttentionWords, Sizes) {
  for (int64_t t : {1, 2, 7, 17, 63, 64, 65, 130})
    for (int64_t d : {2, 6, 20, 64, 128})
      for (int64_t causal : {0, 1}) {
        Case c;
        c.b = 1, c.t = c.s = t, c.d = d, c.causal = causal;
        check(c);
      }
}

// The last tile that a causal tile of queries sees ends between tiles of keys.
TEST_P(AttentionWords, MoreKeysThanQueries) {
  for (auto [t, s] : {std::pair<int64_t, int64_t>{30, 101},
                      {1, 70},
                      {16, 70},
                      {70, 75},
                      {100, 203}})
    for (int64_t causal : {0, 1}) {
      Case c;
      c.b = 1, c.t = t, c.s = s, c.causal = causal;
      check(c);
    }
}

TEST_P(AttentionWords, NegativeAndLargeScales) {
  for (double scale : {-0.3, 3.0, 40.0}) {
    Case c;
    c.t = c.s = 90, c.d = 32, c.scaleFactor = scale;
    check(c);
  }
}

TEST_P(AttentionWords, GroupedHeads) {
  for (int64_t hkv : {1, 2, 4}) {
    Case c;
    c.t = c.s = 70, c.h = 4, c.hkv = hkv, c.d = 16;
    check(c);
  }
}

TEST_P(AttentionWords, Variants) {
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
TEST_P(AttentionWords, OddHeadsAreWidened) {
  Case c;
  c.t = c.s = 70, c.d = 7;
  Result words = runWords(c, 1), wide = runWidened(c);
  EXPECT_LT(differenceOf(words.lse, wide.lse), 2e-6);
  EXPECT_LT(differenceOf(words.out, wide.out), roundingError(WEFT_BF16));
}

// Fewer keys than queries: the first queries see none.
TEST_P(AttentionWords, RowsWithoutKeys) {
  Case c;
  c.b = 1, c.h = c.hkv = 1, c.t = 80, c.s = 10;
  Result r = runWords(c, 2);
  for (int64_t i = 0; i < 70; ++i) {
    EXPECT_EQ(r.lse[i], -INFINITY);
    EXPECT_EQ(r.out[i * c.d], 0.0f);
    EXPECT_EQ(r.dq[i * c.qRow()], 0.0f);
  }
  for (float x : r.dq)
    EXPECT_TRUE(std::isfinite(x));
}

/// Queries of one number and one key of another, both with a second element of
/// zero, and the logarithms of the sums.
Floats lseOf(CpuIsa isa, int64_t queries, float q, float k) {
  TestContext context(1, isa);
  Floats rows;
  for (int64_t i = 0; i < queries; ++i)
    rows.insert(rows.end(), {q, 0.0f});
  Elements qs(rows, WEFT_BF16), ks({k, 0.0f}, WEFT_BF16);
  Elements v({1.0f, 1.0f}, WEFT_BF16);
  Elements out(Floats(2 * queries, NAN), WEFT_BF16);
  Floats lse(queries, NAN);
  WeftHeadStrides many = {2 * queries, 2, 2}, one = {2, 2, 2};
  callOk(context, weft_cpu_attention,
         {qs.data(), ks.data(), v.data(), out.data(), lse.data()},
         WeftAttentionRecord{1, queries, 1, 1, 1, 2, 0, 0, WEFT_BF16, 0x1p30,
                             0.0, many, one, one, many, /*hasBits=*/0});
  return lse;
}

// The processor's products of bf16 take subnormals as zero: so the scores tell
// which instructions made them.
TEST_P(AttentionWords, SubnormalsAreZero) {
  EXPECT_EQ(lseOf(GetParam(), 16, 0x1p-130f, 0x1p100f), Floats(16, 0.0f));
}

// AMX multiplies sixteen queries at once, so it leaves a step of decoding to
// vectors of f32.
TEST_P(AttentionWords, FewQueriesAreWidenedBesideAmx) {
  const float want = GetParam() == CpuIsa::Amx ? 1.0f : 0.0f;
  EXPECT_EQ(lseOf(GetParam(), 15, 0x1p-130f, 0x1p100f), Floats(15, want));
}

TEST_P(AttentionWords, NanReachesTheOutput) {
  TestContext context(1, GetParam());
  constexpr int64_t queries = 20;
  Elements q(Floats(2 * queries, 1.0f), WEFT_BF16);
  Elements k({NAN, 1, 1, 1}, WEFT_BF16), v({3, 3, 5, 5}, WEFT_BF16);
  Elements out(Floats(2 * queries, 0.0f), WEFT_BF16);
  Floats lse(queries);
  WeftHeadStrides many = {2 * queries, 2, 2}, two = {4, 2, 2};
  callOk(context, weft_cpu_attention,
         {q.data(), k.data(), v.data(), out.data(), lse.data()},
         WeftAttentionRecord{1, queries, 2, 1, 1, 2, 0, 0, WEFT_BF16, 1.0, 0.0,
                             many, two, two, many, /*hasBits=*/0});
  for (float x : out.values())
    EXPECT_TRUE(std::isnan(x));
}
