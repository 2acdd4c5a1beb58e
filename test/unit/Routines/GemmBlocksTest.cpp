//===- GemmBlocksTest.cpp - Blocks of products and their reads ------------===//

#include "GemmCases.h"

using namespace weft;

/// Products whose rows lie a multiple of 512 bytes apart, which are copied with
/// AVX2: A, B or both, in blocks of rows and of columns.
static std::vector<Gemm> aliasingProducts(int64_t k) {
  std::vector<Gemm> products;
  for (auto [m, n] : {std::pair<int64_t, int64_t>{300, 260}, {260, 500}})
    for (int64_t way : {0, 1, 3}) {
      Gemm g = shaped(m, n, k, way & 1, way >> 1);
      g.padA = g.transA ? roundUp(m, 128) - m : 3;
      g.padB = g.transB ? 1 : roundUp(n, 128) - n;
      g.padC = 5;
      products.push_back(g);
    }
  products.push_back(shaped(260, 1024, k, 0, 0));
  return products;
}

TEST(GemmBlocks, RowsThatAliasInACache) {
  for (int64_t k : {64, 513, 1100})
    for (Gemm g : aliasingProducts(k)) {
      const PaddedRows padded(g.record(), kProgramThreads);
      EXPECT_EQ(padded.copiesA, g.transA != 0);
      EXPECT_EQ(padded.copiesB, g.transB == 0);
      EXPECT_EQ(padded.depth, std::min<int64_t>(k, 512));
      EXPECT_NE(padded.copiesA ? padded.lda % 128 : 1, 0);
      EXPECT_NE(padded.copiesB ? padded.ldb % 128 : 1, 0);
      g.bias = true;
      check(g);
      g.bias = false, g.accumulate = 1;
      check(g);
    }
}

TEST(GemmBlocks, CopiesArePaidForByUses) {
  auto depth = [](const Gemm &g, int64_t threads = 2) {
    WeftGemmRecord record = g.record();
    mergeBatch(record);
    const PaddedRows padded(record, threads);
    EXPECT_LE(padded.bytes(), 4 << 20);
    EXPECT_LE(padded.bytes(), gemmWorkspaceBytes(record, threads));
    return padded.depth;
  };
  EXPECT_EQ(depth(shaped(256, 384, 64, 0, 0)), 64);
  EXPECT_EQ(depth(shaped(255, 384, 64, 0, 0)), 0);     // too few uses
  EXPECT_EQ(depth(shaped(256, 384, 63, 0, 0)), 0);     // a short column
  EXPECT_EQ(depth(shaped(256, 400, 64, 0, 0)), 0);     // rows of 1600 bytes
  EXPECT_EQ(depth(shaped(384, 384, 384, 0, 1)), 0);    // runs along all rows
  EXPECT_EQ(depth(shaped(3072, 768, 512, 1, 0)), 256); // not over 4 MiB
  EXPECT_EQ(depth(shaped(50304, 768, 512, 1, 0)), 0);  // nor for a few rows
  // In one piece a large product is packed by oneDNN.
  EXPECT_EQ(depth(shaped(3072, 768, 512, 1, 0), 1), 0);
  EXPECT_EQ(depth(shaped(384, 384, 512, 1, 0), 1), 512);
  Gemm batch = shaped(256, 384, 64, 1, 0);
  batch.batch = 2;
  EXPECT_EQ(depth(batch), 0);
  Gemm low = shaped(256, 384, 64, 0, 0);
  low.type = low.typeC = WEFT_BF16;
  EXPECT_EQ(depth(low), 0);
}

/// Of a program for a single thread, which may have products in one piece.
TEST(GemmBlocks, OneThread) {
  for (int64_t trans = 0; trans < 4; ++trans)
    for (Gemm g : {shaped(65, 100, 129, trans & 1, trans >> 1),
                   shaped(540, 600, 70, trans & 1, trans >> 1),
                   shaped(20, 384, 5000, trans & 1, trans >> 1)})
      for (int64_t way : {0, 1, 2, 3}) {
        g.bias = way == 1, g.accumulate = way == 2, g.batch = way == 3 ? 3 : 1;
        Floats one = run(g, 1, 0, kBestIsa, /*most=*/1);
        EXPECT_LT(largestError(one, reference(g)), 2e-6 * std::sqrt(g.k))
            << describe(g);
        EXPECT_TRUE(sameBits(one, run(g, 1, /*shift=*/1, kBestIsa, /*most=*/1)))
            << describe(g);
      }
}

/// The most threads of a program change nothing, from two on.
TEST(GemmBlocks, ProgramsForManyThreads) {
  for (const Gemm &g :
       {shaped(512, 768, 768, 0, 0), shaped(768, 2304, 512, 1, 0),
        shaped(512, 768, 2304, 0, 1), shaped(300, 1000, 2100, 1, 0)}) {
    Floats two = run(g, 2, 0, kBestIsa, /*most=*/2);
    for (int most : {3, 16})
      EXPECT_TRUE(sameBits(two, run(g, 2, 0, kBestIsa, most)))
          << describe(g) << most;
  }
}
