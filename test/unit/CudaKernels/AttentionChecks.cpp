//===- AttentionChecks.cpp - CUDA attention beside f64 --------------------===//

#include "AttentionChecks.h"

#include "weft/Abi/DropoutBits.h"

#include <numeric>
#include <sstream>

using namespace weft;

using Case = AttentionCase;

double weft::attentionBound(int64_t dtype) {
  return dtype == WEFT_F32 ? 1e-5 : dtype == WEFT_F16 ? 3e-3 : 2e-2;
}

std::string weft::describe(const Case &c) {
  std::ostringstream text;
  text << "b " << c.b << " t " << c.t << " s " << c.s << " h " << c.h << " hkv "
       << c.hkv << " d " << c.d << " causal " << c.causal << " dropout "
       << c.dropout << " dtype " << c.dtype << " factor " << c.factor
       << " range " << c.range << " gap " << c.gap << " rowGap " << c.rowGap
       << " headsFirst " << c.headsFirst << " shift " << c.shift << " window "
       << c.window << " softcap " << c.softcap << " documents " << c.documents;
  return text.str();
}

static double norm(const Doubles &values) {
  return std::sqrt(
      std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

void weft::checkTerms(const Case &c, const Doubles &got, const Doubles &want,
                      double terms) {
  double size = std::max(norm(want), std::sqrt(terms));
  EXPECT_LE(relativeError(got, want) * (norm(want) == 0.0 ? 1.0 : norm(want)),
            4.0 * attentionBound(c.dtype) * size);
}

AttentionResults weft::checkValues(const Case &c, double slack) {
  AttentionInputs inputs(c);
  AttentionResults r = {attentionOfCuda(c, inputs), attentionInF64(c, inputs)};
  EXPECT_LT(relativeError(r.got.out, r.want.out), attentionBound(c.dtype));
  EXPECT_LT(relativeError(r.got.lse, r.want.lse), 1e-5);
  EXPECT_LT(relativeError(r.got.dv, r.want.dv),
            slack * attentionBound(c.dtype));
  return r;
}

void weft::checkAttention(const Case &c, double slack) {
  SCOPED_TRACE(describe(c));
  AttentionResults r = checkValues(c, slack);
  EXPECT_LT(relativeError(r.got.dq, r.want.dq),
            slack * attentionBound(c.dtype));
  EXPECT_LT(relativeError(r.got.dk, r.want.dk),
            slack * attentionBound(c.dtype));
}

/// Each visible score has the bit that the reference draws.
static void checkBits(const Case &c, const std::vector<uint32_t> &bits) {
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

void weft::checkStored(Case c) {
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

std::string weft::typeName(const testing::TestParamInfo<int64_t> &info) {
  return info.param == WEFT_F32   ? "f32"
         : info.param == WEFT_F16 ? "f16"
                                  : "bf16";
}
