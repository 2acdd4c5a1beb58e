//===- CudaAttentionTest.cpp - Attention of CUDA against f64 --------------===//

#include "AttentionReference.h"

#include "weft/Abi/DropoutBits.h"

#include <cstdlib>
#include <numeric>
#include <random>
#include <sstream>
#include <tuple>

using namespace weft;

namespace {

using Case = AttentionCase;

double bound(int64_t dtype) {
  return dtype == WEFT_F32 ? 1e-5 : dtype == WEFT_F16 ? 3e-3 : 2e-2;
}

std::string describe(const Case &c) {
  std::ostringstream text;
  text << "b " << c.b << " t " << c.t << " s " << c.s << " h " << c.h << " hkv "
       << c.hkv << " d " << c.d << " causal " << c.causal << " dropout "
       << c.dropout << " dtype " << c.dtype << " factor " << c.factor
       << " range " << c.range << " gap " << c.gap << " rowGap " << c.rowGap
       << " headsFirst " << c.headsFirst << " shift " << c.shift << " window "
       << c.window << " softcap " << c.softcap << " documents " << c.documents;
  return text.str();
}

double norm(const Doubles &values) {
  return std::sqrt(
      std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

/// Gradients of queries and keys, of which much cancels where there are few
/// keys: as far off as their terms are rounded.
void checkTerms(const Case &c, const Doubles &got, const Doubles &want,
                double terms) {
  double size = std::max(norm(want), std::sqrt(terms));
  EXPECT_LE(relativeError(got, want) * (norm(want) == 0.0 ? 1.0 : norm(want)),
            4.0 * bound(c.dtype) * size);
}

struct Results {
  AttentionResult got, want;
};

/// Runs a case, and checks all but the gradients of queries and keys. `slack`
/// multiplies the bound for the gradients of values.
Results checkValues(const Case &c, double slack = 1.0) {
  AttentionInputs inputs(c);
  Results r = {attentionOfCuda(c, inputs), attentionInF64(c, inputs)};
  EXPECT_LT(relativeError(r.got.out, r.want.out), bound(c.dtype));
  EXPECT_LT(relativeError(r.got.lse, r.want.lse), 1e-5);
  EXPECT_LT(relativeError(r.got.dv, r.want.dv), slack * bound(c.dtype));
  return r;
}

/// `slack`: how much further off gradients may be.
void check(const Case &c, double slack = 1.0) {
  SCOPED_TRACE(describe(c));
  Results r = checkValues(c, slack);
  EXPECT_LT(relativeError(r.got.dq, r.want.dq), slack * bound(c.dtype));
  EXPECT_LT(relativeError(r.got.dk, r.want.dk), slack * bound(c.dtype));
}

/// Each visible score has the bit that the reference draws.
void checkBits(const Case &c, const std::vector<uint32_t> &bits) {
  const int64_t words = bits.size() / (c.b * c.h);
  for (int64_t row = 0; row < c.b * c.h * c.t; ++row)
    for (int64_t j = 0; j < c.s; ++j) {
      const int64_t i = row % c.t, h = row / c.t % c.h, b = row / c.t / c.h;
      if (!c.sees(b, i, j))
        continue;
      const BitPlace place = findBit(i, j, c.s);
      const uint32_t word = bits[(b * c.h + h) * words + place.word];
      ASSERT_EQ(word >> place.bit & 1, keepsScore(c, b, h, i, j))
          << "batch " << b << " head " << h << " query " << i << " key " << j;
    }
}

/// Stored bits give the results of drawn ones to the bit.
void checkStored(Case c) {
  SCOPED_TRACE(describe(c));
  const AttentionInputs inputs(c);
  const AttentionResult drawn = attentionOfCuda(c, inputs);
  c.storesBits = true;
  takeLaunches();
  const AttentionResult stored = attentionOfCuda(c, inputs);
  // Of the last two, dk and dq, none draws.
  const std::vector<std::string> launches = takeLaunches();
  ASSERT_GE(launches.size(), 4u);
  for (const std::string &kernel :
       {launches[launches.size() - 2], launches.back()})
    EXPECT_NE(kernel.find("_stored"), std::string::npos) << kernel;
  EXPECT_EQ(stored.out, drawn.out);
  EXPECT_EQ(stored.lse, drawn.lse);
  EXPECT_EQ(stored.dq, drawn.dq);
  EXPECT_EQ(stored.dk, drawn.dk);
  EXPECT_EQ(stored.dv, drawn.dv);
  checkBits(c, stored.bits);
}

class CudaAttention : public testing::TestWithParam<int64_t> {
protected:
  Case make() {
    Case c;
    c.dtype = GetParam();
    return c;
  }
};

} // namespace

TEST_P(CudaAttention, Lengths) {
  for (int64_t t : {1, 64, 65, 131})
    for (int64_t causal : {0, 1}) {
      Case c = make();
      c.b = 1, c.h = c.hkv = 1, c.t = c.s = t, c.d = 64;
      c.causal = causal, c.range = 2.0f;
      check(c);
    }
}

TEST_P(CudaAttention, HeadSizes) {
  for (int64_t d : {7, 64, 72, 136, 255, 256}) {
    Case c = make();
    c.b = 1, c.h = c.hkv = 1, c.t = c.s = 40, c.d = d;
    check(c);
  }
}

TEST_P(CudaAttention, LengthsThatDiffer) {
  for (int64_t causal : {0, 1})
    for (auto [t, s] : {std::pair(30, 100), {70, 30}, {1, 70}, {70, 1}}) {
      Case c = make();
      c.b = 1, c.h = c.hkv = 1, c.t = t, c.s = s, c.causal = causal;
      check(c);
    }
}

TEST_P(CudaAttention, GroupedHeads) {
  for (int64_t hkv : {1, 2, 4})
    for (int64_t d : {16, 128}) {
      Case c = make();
      c.t = c.s = 20, c.h = 4, c.hkv = hkv, c.d = d, c.b = 1 + (d == 16);
      check(c);
    }
}

TEST_P(CudaAttention, StridesAndAddresses) {
  for (int64_t d : {8, 13})
    for (auto [gap, rowGap] : {std::pair(0, 0), {3, 5}, {8, 16}})
      for (size_t shift : {0, 1, 8}) {
        Case c = make();
        c.b = 1, c.t = 10, c.s = 17, c.d = d, c.gap = gap, c.rowGap = rowGap;
        c.headsFirst = shift != 1, c.shift = shift;
        check(c);
      }
}

TEST_P(CudaAttention, Dropout) {
  for (int64_t s : {21, 36})
    for (int64_t d : {8, 136}) {
      Case c = make();
      c.t = 20, c.s = s, c.d = d, c.dropout = 0.3, c.causal = d == 8;
      c.hkv = 1;
      check(c);
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
        check(c, /*slack=*/2.0);
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

// Blocks of numbers go on from tile to tile and from head to head.
TEST_P(CudaAttention, DropoutOfWholeBlocks) {
  for (auto [t, s] : {std::pair(70, 132), {131, 72}})
    for (int64_t d : {64, 72, 136}) {
      Case c = make();
      c.b = 1 + (d == 64), c.h = 2, c.hkv = c.b, c.t = t, c.s = s, c.d = d;
      c.dropout = 0.3, c.causal = s > t;
      check(c);
    }
}

// Of all keys every one and none may be kept: bounds of the numbers.
TEST_P(CudaAttention, DropoutOfLittle) {
  for (double p : {0x1p-30, 1.0 - 0x1p-24}) {
    Case c = make();
    c.b = 1, c.t = c.s = 40, c.causal = 0, c.dropout = p;
    check(c);
  }
}

// Drawn one by one where the number of keys is no multiple of 4.
TEST_P(CudaAttention, StoredBits) {
  for (auto [t, s] : {std::pair(70, 132), {131, 72}, {65, 65}})
    for (int64_t d : {64, 72, 136}) {
      Case c = make();
      c.b = 1 + (t == 65), c.h = 2, c.hkv = c.b, c.t = t, c.s = s, c.d = d;
      c.dropout = 0.3, c.causal = (t == 65) != (d == 72);
      checkStored(c);
    }
}

// Tiles that the forward kernel skips have no bits.
TEST_P(CudaAttention, StoredBitsOfVariants) {
  for (int64_t d : {64, 72, 136})
    for (auto [window, documents] : {std::pair(70, 0), {0, 3}, {70, -2}}) {
      Case c = make();
      c.b = 1, c.h = 2, c.hkv = 1, c.t = c.s = 132, c.d = d;
      c.dropout = 0.3, c.causal = documents >= 0, c.window = window;
      c.documents = documents, c.softcap = 0.7;
      checkStored(c);
    }
}

TEST_P(CudaAttention, StoredBitsOfLittle) {
  for (double p : {0x1p-30, 1.0 - 0x1p-24, 1.0}) {
    Case c = make();
    c.b = 1, c.t = c.s = 40, c.causal = 0, c.dropout = p;
    checkStored(c);
  }
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

TEST_P(CudaAttention, DropoutOfEverything) {
  Case c = make();
  c.dropout = 1.0;
  AttentionResult r = attentionOfCuda(c, AttentionInputs(c));
  for (const Doubles &some : {r.out, r.dq, r.dk, r.dv})
    EXPECT_EQ(some, Doubles(some.size(), 0.0));
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
  check(c, /*slack=*/10.0); // lse is about 500 and has 24 bits
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
    EXPECT_LT(oneKeyBackward(make(), 64, range).first, bound(dtype)) << range;
  for (float range : {30.0f, 100.0f, 900.0f}) {
    auto [error, most] = oneKeyBackward(make(), 128, range);
    const double rounded = dtype == WEFT_F32 ? 0.0 : most * 0x1p-23;
    EXPECT_LT(error, bound(dtype) + rounded) << range;
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
                         [](const auto &info) {
                           return std::string(info.param == WEFT_F32 ? "f32"
                                              : info.param == WEFT_F16
                                                  ? "f16"
                                                  : "bf16");
                         });

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
  check(c);
}

INSTANTIATE_TEST_SUITE_P(
    All, CudaAttentionKernels,
    testing::Combine(testing::Values(WEFT_F32, WEFT_F16, WEFT_BF16),
                     testing::Values(8, 72, 136), testing::Values(0, 1, 2)));

namespace {

/// Shapes of all kinds, small enough for a second.
class Draw {
public:
  explicit Draw(unsigned seed) : random(seed) {}

  Case attention() {
    Case c;
    c.dtype = of({WEFT_F32, WEFT_F16, WEFT_F16, WEFT_BF16});
    c.d = of({8, 16, 33, 64, 64, 64, 72, 128, 136, 256});
    c.t = length(), c.s = below(2) ? c.t : length();
    c.hkv = of({1, 2}), c.h = c.hkv * of({1, 2, 3}), c.b = of({1, 2});
    if (c.b * c.h * c.t * c.s * c.d > 4 << 20)
      c.b = c.h = c.hkv = 1;
    c.causal = below(2), c.dropout = std::vector{0.0, 0.1, 0.5, 0.9}[below(4)];
    c.factor = std::vector{1.0, 1.0, 1.0, 3.0, -0.5, 0.0}[below(6)];
    if (below(2))
      addVariant(c);
    if (below(3) == 0)
      c.gap = of({0, 3, 8}), c.rowGap = of({0, 5, 16}), c.shift = of({0, 1, 8});
    c.headsFirst = below(2);
    return c;
  }

private:
  void addVariant(Case &c) {
    c.softcap = std::vector{0.0, 0.5, 20.0}[below(3)];
    if (c.causal || c.t == c.s)
      c.window = of({0, 0, 1, 7, 64, 100, 1000});
    if (c.t == c.s)
      c.documents = of({0, 1, 3, 8, -2});
  }

  int64_t below(int64_t end) { return random() % end; }
  int64_t of(std::vector<int64_t> values) {
    return values[below(values.size())];
  }
  int64_t length() {
    return of({1, 2, 4, 15, 16, 31, 63, 64, 65, 68, 96, 128, 129, 132, 196});
  }
  std::mt19937 random;
};

} // namespace

// WEFT_CAMPAIGN_SEEDS says how many.
TEST(CudaAttentionCampaign, Shapes) {
  const char *text = std::getenv("WEFT_CAMPAIGN_SEEDS");
  const unsigned seeds = text ? std::atoi(text) : 40;
  ASSERT_GT(seeds, 0u) << text;
  for (unsigned seed = 0; seed < seeds && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Case c = Draw(seed).attention();
    SCOPED_TRACE(describe(c));
    Results r = checkValues(c);
    checkTerms(c, r.got.dq, r.want.dq, r.want.dqTerms);
    checkTerms(c, r.got.dk, r.want.dk, r.want.dkTerms);
    if (c.dropout > 0.0)
      checkStored(c);
  }
}
