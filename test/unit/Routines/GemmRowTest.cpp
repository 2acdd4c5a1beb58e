//===- GemmRowTest.cpp - Products whose left operand has one row ----------===//

#include "GemmCases.h"

using namespace weft;

namespace {

/// Calls body with a product of one row for each type of operands and result.
template <typename Body> void forEachRowType(Body body) {
  for (int64_t type : {WEFT_F32, WEFT_F16, WEFT_BF16})
    for (int64_t typeC : {type, static_cast<int64_t>(WEFT_F32)})
      for (int64_t trans = 0; trans < 4; ++trans) {
        Gemm g = shaped(1, 1, 1, trans & 1, trans >> 1);
        g.type = type, g.typeC = typeC;
        body(g);
      }
}

} // namespace

// Columns around the width of a piece and of a vector; sums around a run of A.
TEST(GemmRow, SizesOfPiecesAndRuns) {
  forEachRowType([](Gemm g) {
    for (int64_t n : {1, 17, 2065})
      for (int64_t k : {1, 1031}) {
        g.n = n, g.k = k;
        check(g);
      }
  });
}

TEST(GemmRow, StridesBiasAccumulateBatches) {
  forEachRowType([](Gemm g) {
    g.n = 300, g.k = 70, g.padA = 3, g.padB = 5, g.padC = 7, g.batch = 3;
    for (int64_t accumulate = 0; accumulate < 3; ++accumulate) {
      g.accumulate = accumulate, g.bias = accumulate != 1, g.flag = 1.0f;
      g.shareA = accumulate == 2;
      for (CpuIsa isa : {CpuIsa::Avx512, CpuIsa::Avx2, CpuIsa::Baseline})
        check(g, isa);
    }
  });
}

TEST(GemmRow, BitsDoNotDependOnTheThreadsOfTheProgram) {
  forEachRowType([](Gemm g) {
    g.n = 5000, g.k = 1500;
    const Floats one = run(g, 1, 0, kBestIsa, /*most=*/1);
    EXPECT_TRUE(sameBits(one, run(g, 3))) << describe(g);
  });
}
