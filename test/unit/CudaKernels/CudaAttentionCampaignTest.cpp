//===- CudaAttentionCampaignTest.cpp - Random shapes of attention on CUDA -===//

#include "AttentionChecks.h"

#include <cstdlib>
#include <random>

using namespace weft;

using Case = AttentionCase;

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
    AttentionResults r = checkValues(c);
    checkTerms(c, r.got.dq, r.want.dq, r.want.dqTerms);
    checkTerms(c, r.got.dk, r.want.dk, r.want.dkTerms);
    if (c.dropout > 0.0)
      checkStored(c);
  }
}
