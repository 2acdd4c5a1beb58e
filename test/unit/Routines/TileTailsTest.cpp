//===- TileTailsTest.cpp - Products that oneDNN cannot make in tiles ------===//

#include "GemmPlan.h"

#include "GemmCases.h"

using namespace weft;

static WeftGemmRecord lowProduct(int64_t k, int64_t type = WEFT_BF16) {
  Gemm g = shaped(72, 18, k, 1, 0);
  g.type = g.typeC = type;
  return g.record();
}

/// K_blk of oneDNN 2.6.3 for blocks of `chunk` times 32 columns at a time:
/// matmul_amx_blocking_params_t::set_blocking_parameters().
static int64_t blockOfK(int64_t k, int64_t chunk, bool isCutByThreads) {
  if (k < 32)
    return roundUp(k, 2);
  if (k % 32 == 0 && k % (32 * chunk) == 0)
    return 32 * chunk;
  return !isCutByThreads && k == 32 * chunk + k % 32 ? 32 * chunk : 32;
}

/// Whether the kernel of the tail runs with tiles of another kernel.
static bool keepsTiles(int64_t k, int64_t chunk, bool isCutByThreads) {
  const int64_t block = blockOfK(k, chunk, isCutByThreads);
  const int64_t tail = k > block ? roundUp(k % block, 2) : 0;
  return tail == block;
}

TEST(TileTails, HoldEveryProductWhoseTailKeepsTiles) {
  int64_t kept = 0;
  for (int64_t k = 1; k < 4500; ++k)
    for (int64_t chunk = 1; chunk <= std::max<int64_t>(k / 32, 1); ++chunk)
      for (bool isCutByThreads : {false, true})
        if (keepsTiles(k, chunk, isCutByThreads)) {
          ++kept;
          EXPECT_TRUE(failsInTiles(lowProduct(k))) << k;
        }
  EXPECT_GT(kept, 0);
  EXPECT_TRUE(keepsTiles(63, 1, false));
  EXPECT_FALSE(keepsTiles(95, 2, false)); // unless something cuts it
  EXPECT_TRUE(keepsTiles(95, 1, false));
}

TEST(TileTails, HoldNothingElse) {
  for (int64_t k = 1; k < 4500; ++k) {
    EXPECT_EQ(failsInTiles(lowProduct(k)), k > 31 && k % 32 == 31) << k;
    EXPECT_FALSE(failsInTiles(lowProduct(k, WEFT_F32))) << k;
    EXPECT_FALSE(failsInTiles(lowProduct(k, WEFT_F16))) << k;
  }
}

/// Whatever the processor has, these are right, and the same on all threads.
TEST(TileTails, AreRight) {
  for (int64_t trans = 0; trans < 4; ++trans)
    for (int64_t m : {1, 16, 65, 72})
      for (int64_t n : {12, 18, 46})
        for (int64_t k : {31, 63, 95, 127})
          for (int64_t typeC : {WEFT_BF16, WEFT_F32}) {
            Gemm g = shaped(m, n, k, trans & 1, trans >> 1);
            g.type = WEFT_BF16, g.typeC = typeC;
            check(g);
          }
}
