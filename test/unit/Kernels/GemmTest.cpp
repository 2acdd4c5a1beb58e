//===- GemmTest.cpp - Products against a naive reference ------------------===//

#include "Harness.h"

using namespace weft;

namespace {

struct Gemm {
  int64_t batch = 1, m = 1, n = 1, k = 1, transA = 0, transB = 0;
  int64_t padA = 0, padB = 0, padC = 0; // extra floats in a row
  bool shareA = false, shareB = false, bias = false;
  int64_t accumulate = 0;
  float flag = 0.0f;

  int64_t lda() const { return (transA ? m : k) + padA; }
  int64_t ldb() const { return (transB ? k : n) + padB; }
  int64_t ldc() const { return n + padC; }
  int64_t sizeA() const { return (transA ? k : m) * lda(); }
  int64_t sizeB() const { return (transB ? n : k) * ldb(); }
  int64_t sizeC() const { return m * ldc(); }
  Ints ints() const {
    return {batch,
            m,
            n,
            k,
            transA,
            transB,
            lda(),
            ldb(),
            ldc(),
            shareA ? 0 : sizeA(),
            shareB ? 0 : sizeB(),
            sizeC(),
            accumulate,
            bias};
  }
};

/// Runs with operands `shift` floats off alignment.
Floats run(const Gemm &g, int threads, int64_t shift = 0) {
  TestContext context(threads);
  Floats a = randomFloats(shift + g.batch * g.sizeA(), 1);
  Floats b = randomFloats(shift + g.batch * g.sizeB(), 2);
  Floats c = randomFloats(shift + g.batch * g.sizeC(), 3);
  Floats bias = randomFloats(shift + g.n, 4);
  // The same numbers at every shift.
  auto moved = [&](Floats &values) {
    std::rotate(values.begin(), values.end() - shift, values.end());
    return values.data() + shift;
  };
  const float *operands[] = {moved(a), moved(b), moved(c), moved(bias)};
  if (g.accumulate != 1 && !(g.accumulate == 2 && g.flag != 0.0f))
    for (int64_t i = 0; i < g.batch; ++i)
      for (int64_t r = 0; r < g.m; ++r)
        for (int64_t j = 0; j < g.n; ++j)
          const_cast<float *>(operands[2])[i * g.sizeC() + r * g.ldc() + j] =
              NAN;
  std::vector<const void *> buffers(operands, operands + 3 + g.bias);
  if (g.accumulate == 2)
    buffers.push_back(&g.flag);
  callOk(context, weft_cpu_gemm, buffers, g.ints(), {});
  return Floats(c.begin() + shift, c.end());
}

Doubles reference(const Gemm &g) {
  Floats a = randomFloats(g.batch * g.sizeA(), 1);
  Floats b = randomFloats(g.batch * g.sizeB(), 2);
  Floats old = randomFloats(g.batch * g.sizeC(), 3);
  Floats bias = randomFloats(g.n, 4);
  Doubles c(old.begin(), old.end());
  bool adds = g.accumulate == 1 || (g.accumulate == 2 && g.flag != 0.0f);
  for (int64_t i = 0; i < g.batch; ++i)
    for (int64_t r = 0; r < g.m; ++r)
      for (int64_t j = 0; j < g.n; ++j) {
        const float *x = a.data() + (g.shareA ? 0 : i * g.sizeA());
        const float *y = b.data() + (g.shareB ? 0 : i * g.sizeB());
        double sum = g.bias ? bias[j] : 0.0;
        for (int64_t k = 0; k < g.k; ++k)
          sum += static_cast<double>(g.transA ? x[k * g.lda() + r]
                                              : x[r * g.lda() + k]) *
                 (g.transB ? y[j * g.ldb() + k] : y[k * g.ldb() + j]);
        double &to = c[i * g.sizeC() + r * g.ldc() + j];
        to = adds ? to + sum : sum;
      }
  return c;
}

void check(const Gemm &g) {
  Floats one = run(g, 1);
  EXPECT_LT(largestError(one, reference(g)), 2e-6 * std::sqrt(g.k))
      << g.batch << " " << g.m << " " << g.n << " " << g.k << " trans "
      << g.transA << g.transB;
  EXPECT_TRUE(sameBits(one, run(g, 2))) << g.m << " " << g.n << " " << g.k;
  EXPECT_TRUE(sameBits(one, run(g, 2, /*shift=*/1)));
}

Gemm shaped(int64_t m, int64_t n, int64_t k, int64_t transA, int64_t transB) {
  Gemm g;
  g.m = m, g.n = n, g.k = k, g.transA = transA, g.transB = transB;
  return g;
}

} // namespace

TEST(Gemm, SizesAndTransposes) {
  for (int64_t trans = 0; trans < 4; ++trans)
    for (int64_t m : {1, 7, 65})
      for (int64_t n : {1, 63, 100})
        for (int64_t k : {1, 5, 64, 129})
          check(shaped(m, n, k, trans & 1, trans >> 1));
}

TEST(Gemm, StridesBiasAccumulate) {
  for (int64_t trans = 0; trans < 4; ++trans)
    for (int64_t accumulate = 0; accumulate < 3; ++accumulate)
      for (bool bias : {false, true})
        for (float flag : {0.0f, 1.0f}) {
          Gemm g = shaped(33, 47, 21, trans & 1, trans >> 1);
          g.padA = 3, g.padB = 5, g.padC = 7;
          g.bias = bias, g.accumulate = accumulate, g.flag = flag;
          check(g);
        }
}

TEST(Gemm, Batches) {
  for (int64_t trans = 0; trans < 4; ++trans)
    for (int share = 0; share < 3; ++share)
      for (bool bias : {false, true}) {
        Gemm g = shaped(17, 33, 20, trans & 1, trans >> 1);
        g.batch = 5, g.shareA = share & 1, g.shareB = share >> 1;
        g.bias = bias, g.accumulate = bias;
        check(g);
        g.padA = 2, g.padC = 1;
        check(g);
      }
}

// oneDNN alone would split K among threads here.
TEST(Gemm, LongTransposedSums) {
  for (int64_t k : {1537, 2048, 9000})
    for (int64_t n : {10, 64}) {
      check(shaped(17, n, k, 1, 0));
      Gemm g = shaped(17, n, k, 1, 1);
      g.bias = true, g.accumulate = 1;
      check(g);
      g.batch = 2;
      check(g);
    }
}

TEST(Gemm, TransformerShapesHaveTheSameBitsForEveryThreadCount) {
  for (const Gemm &g :
       {shaped(512, 2304, 768, 0, 0), shaped(512, 768, 3072, 0, 0),
        shaped(768, 2304, 512, 1, 0), shaped(512, 768, 2304, 0, 1),
        shaped(128, 128, 4096, 1, 0), shaped(1024, 256, 128, 0, 1),
        shaped(128, 512, 1024, 1, 0), shaped(256, 768, 5000, 0, 0),
        shaped(5000, 768, 256, 1, 0), shaped(1, 5000, 768, 0, 1)}) {
    Floats one = run(g, 1);
    for (int threads : {2, 3})
      EXPECT_TRUE(sameBits(one, run(g, threads)))
          << g.m << " " << g.n << " " << g.k << " threads " << threads;
  }
}

TEST(Gemm, FlagOfZeroDoesNotReadTheDestination) {
  Gemm g = shaped(9, 9, 9, 0, 0);
  g.accumulate = 2, g.flag = 0.0f; // run() fills C with NaN
  for (float value : run(g, 2))
    EXPECT_FALSE(std::isnan(value));
}

TEST(Gemm, ScratchBytes) {
  Gemm g = shaped(768, 2304, 512, 1, 0);
  EXPECT_GE(weft_cpu_gemm_scratch_bytes(g.ints().data(), 2), 0);
  g.n = 0;
  EXPECT_LT(weft_cpu_gemm_scratch_bytes(g.ints().data(), 2), 0);
}

TEST(Gemm, Errors) {
  float x[64] = {};
  auto expect = [&](const std::string &message, size_t index, int64_t value) {
    Gemm g = shaped(4, 4, 4, 0, 0);
    g.batch = 2;
    Ints ints = g.ints();
    ints[index] = value;
    expectError(70, message, weft_cpu_gemm, {x, x, x}, ints, {});
  };
  expect("expects batch, M, N and K of at least 1, but got 0", 3, 0);
  expect("expects lda of at least the length of a row of A, but got 3", 6, 3);
  expect("expects ldb of at least the length of a row of B, but got 3", 7, 3);
  expect("expects ldc of at least N, but got 3", 8, 3);
  expect("expects batch strides of at least 0, but got -1", 9, -1);
  expect("expects a batch stride of C that keeps results apart, but got 0", 11,
         0);
  expect("expects accumulate of 0, 1 or 2, but got 3", 12, 3);
  Ints shared = shaped(4, 4, 4, 0, 0).ints();
  shared[0] = 2, shared[9] = shared[10] = 0;
  expectError(70, "expects A or B to differ within a batch, but got strides 0",
              weft_cpu_gemm, {x, x, x}, shared, {});
  expect("expects 4 buffers, but got 3", 13, 1);
}
