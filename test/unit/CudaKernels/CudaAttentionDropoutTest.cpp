//===- CudaAttentionDropoutTest.cpp - Dropout of attention on CUDA --------===//

#include "AttentionChecks.h"

using namespace weft;

using Case = AttentionCase;

namespace {
class CudaAttentionDropout : public AttentionTest {};
} // namespace

TEST_P(CudaAttentionDropout, OfElements) {
  for (int64_t s : {21, 36})
    for (int64_t d : {8, 136}) {
      Case c = make();
      c.t = 20, c.s = s, c.d = d, c.dropout = 0.3, c.causal = d == 8;
      c.hkv = 1;
      checkAttention(c);
    }
}

// Blocks of numbers go on from tile to tile and from head to head.
TEST_P(CudaAttentionDropout, OfWholeBlocks) {
  for (auto [t, s] : {std::pair(70, 132), {131, 72}})
    for (int64_t d : {64, 72, 136}) {
      Case c = make();
      c.b = 1 + (d == 64), c.h = 2, c.hkv = c.b, c.t = t, c.s = s, c.d = d;
      c.dropout = 0.3, c.causal = s > t;
      checkAttention(c);
    }
}

// Of all keys every one and none may be kept: bounds of the numbers.
TEST_P(CudaAttentionDropout, OfLittle) {
  for (double p : {0x1p-30, 1.0 - 0x1p-24}) {
    Case c = make();
    c.b = 1, c.t = c.s = 40, c.causal = 0, c.dropout = p;
    checkAttention(c);
  }
}

// Drawn one by one where the number of keys is no multiple of 4.
TEST_P(CudaAttentionDropout, StoredBits) {
  for (auto [t, s] : {std::pair(70, 132), {131, 72}, {65, 65}})
    for (int64_t d : {64, 72, 136}) {
      Case c = make();
      c.b = 1 + (t == 65), c.h = 2, c.hkv = c.b, c.t = t, c.s = s, c.d = d;
      c.dropout = 0.3, c.causal = (t == 65) != (d == 72);
      checkStored(c);
    }
}

// Tiles that the forward kernel skips have no bits.
TEST_P(CudaAttentionDropout, StoredBitsOfVariants) {
  for (int64_t d : {64, 72, 136})
    for (auto [window, documents] : {std::pair(70, 0), {0, 3}, {70, -2}}) {
      Case c = make();
      c.b = 1, c.h = 2, c.hkv = 1, c.t = c.s = 132, c.d = d;
      c.dropout = 0.3, c.causal = documents >= 0, c.window = window;
      c.documents = documents, c.softcap = 0.7;
      checkStored(c);
    }
}

TEST_P(CudaAttentionDropout, StoredBitsOfLittle) {
  for (double p : {0x1p-30, 1.0 - 0x1p-24, 1.0}) {
    Case c = make();
    c.b = 1, c.t = c.s = 40, c.causal = 0, c.dropout = p;
    checkStored(c);
  }
}

TEST_P(CudaAttentionDropout, OfEverything) {
  Case c = make();
  c.dropout = 1.0;
  AttentionResult r = attentionOfCuda(c, AttentionInputs(c));
  for (const Doubles &some : {r.out, r.dq, r.dk, r.dv})
    EXPECT_EQ(some, Doubles(some.size(), 0.0));
}

INSTANTIATE_TEST_SUITE_P(Types, CudaAttentionDropout,
                         testing::Values(WEFT_F32, WEFT_F16, WEFT_BF16),
                         typeName);
