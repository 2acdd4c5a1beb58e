//===- GemmCases.h - Products and a naive reference -------------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_KERNELS_GEMMCASES_H
#define WEFT_TEST_UNIT_KERNELS_GEMMCASES_H

#include "Harness.h"

namespace weft {

struct Gemm {
  int64_t batch = 1, m = 1, n = 1, k = 1, transA = 0, transB = 0;
  int64_t padA = 0, padB = 0, padC = 0; // extra floats in a row
  bool shareA = false, shareB = false, bias = false;
  int64_t accumulate = 0;
  float flag = 0.0f;
  int64_t type = WEFT_F32, typeC = WEFT_F32;

  int64_t lda() const { return (transA ? m : k) + padA; }
  int64_t ldb() const { return (transB ? k : n) + padB; }
  int64_t ldc() const { return n + padC; }
  int64_t sizeA() const { return (transA ? k : m) * lda(); }
  int64_t sizeB() const { return (transB ? n : k) * ldb(); }
  int64_t sizeC() const { return m * ldc(); }
  WeftGemmRecord record() const {
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
            bias,
            type,
            typeC,
            WEFT_EPILOGUE_NONE,
            /*hasAux=*/0,
            /*hasColumnSum=*/0,
            /*hasSumA=*/0,
            /*hasSumB=*/0,
            /*besideCollectives=*/0};
  }
};

/// The operands, rounded to their types; C is NaN where it must not be read.
struct Operands {
  Floats a, b, c, bias;
  explicit Operands(const Gemm &g)
      : a(rounded(randomFloats(g.batch * g.sizeA(), 1), g.type)),
        b(rounded(randomFloats(g.batch * g.sizeB(), 2), g.type)),
        c(rounded(randomFloats(g.batch * g.sizeC(), 3), g.typeC)),
        bias(rounded(randomFloats(g.n, 4), g.type)) {}
};

inline bool addsToOld(const Gemm &g) {
  return g.accumulate == 1 || (g.accumulate == 2 && g.flag != 0.0f);
}

template <typename Body> void forEachResult(const Gemm &g, Body body) {
  for (int64_t i = 0; i < g.batch; ++i)
    for (int64_t r = 0; r < g.m; ++r)
      for (int64_t j = 0; j < g.n; ++j)
        body(i, r, j, i * g.sizeC() + r * g.ldc() + j);
}

/// Runs with operands `shift` elements off alignment, in a program for `most`
/// threads.
inline Floats run(const Gemm &g, int threads, int64_t shift = 0,
                  CpuIsa isa = kBestIsa, int most = kProgramThreads) {
  ContextOptions options = TestContext::options(threads, isa);
  options.maxThreads = most;
  WeftContext context(options);
  Operands numbers(g);
  if (!addsToOld(g))
    forEachResult(
        g, [&](int64_t, int64_t, int64_t, int64_t at) { numbers.c[at] = NAN; });
  // The same numbers at every shift.
  auto make = [&](Floats values, int64_t type) {
    values.insert(values.begin(), shift, 0.0f);
    return Elements(values, type);
  };
  Elements a = make(numbers.a, g.type), b = make(numbers.b, g.type);
  Elements c = make(numbers.c, g.typeC), bias = make(numbers.bias, g.type);
  std::vector<const void *> buffers = {a.at(shift), b.at(shift), c.at(shift)};
  if (g.bias)
    buffers.push_back(bias.at(shift));
  if (g.accumulate == 2)
    buffers.push_back(&g.flag);
  callOk(context, weft_cpu_gemm, buffers, g.record());
  Floats result = c.values();
  return Floats(result.begin() + shift, result.end());
}

inline Doubles reference(const Gemm &g) {
  Operands x(g);
  Doubles c(x.c.begin(), x.c.end());
  forEachResult(g, [&](int64_t i, int64_t r, int64_t j, int64_t at) {
    const float *a = x.a.data() + (g.shareA ? 0 : i * g.sizeA());
    const float *b = x.b.data() + (g.shareB ? 0 : i * g.sizeB());
    double sum = g.bias ? x.bias[j] : 0.0;
    for (int64_t k = 0; k < g.k; ++k)
      sum += static_cast<double>(g.transA ? a[k * g.lda() + r]
                                          : a[r * g.lda() + k]) *
             (g.transB ? b[j * g.ldb() + k] : b[k * g.ldb() + j]);
    c[at] = addsToOld(g) ? c[at] + sum : sum;
  });
  return c;
}

inline std::string describe(const Gemm &g) {
  std::string text;
  WeftGemmRecord record = g.record();
  Ints fields(sizeof record / 8);
  std::memcpy(fields.data(), &record, sizeof record);
  for (int64_t value : fields)
    text += std::to_string(value) + " ";
  return text;
}

inline void check(const Gemm &g, CpuIsa isa = kBestIsa) {
  Floats one = run(g, 1, 0, isa);
  // f32 sums, then one rounding.
  double bound = 2e-6 * std::sqrt(g.k) + roundingError(g.typeC);
  EXPECT_LT(largestError(one, reference(g)), bound) << describe(g);
  EXPECT_TRUE(sameBits(one, run(g, 2, 0, isa))) << describe(g);
  EXPECT_TRUE(sameBits(one, run(g, 2, /*shift=*/1, isa))) << describe(g);
}

inline Gemm shaped(int64_t m, int64_t n, int64_t k, int64_t transA,
                   int64_t transB) {
  Gemm g;
  g.m = m, g.n = n, g.k = k, g.transA = transA, g.transB = transB;
  return g;
}

} // namespace weft

#endif // WEFT_TEST_UNIT_KERNELS_GEMMCASES_H
