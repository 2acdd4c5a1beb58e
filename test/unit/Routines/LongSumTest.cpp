//===- LongSumTest.cpp - Sums over very many elements ---------------------===//
//
// Against f64, with values that are not exact in f32: one chain of additions
// would be off by 1e-5 to 1e-3.
//
//===----------------------------------------------------------------------===//

#include "IsaLoops.h"

using namespace weft;

TEST(LongSums, KeysOfAttention) {
  constexpr int64_t keys = 60001;
  Floats q(1, 1.0f), k(keys, -0.7f), v(keys, 1.0f), out(1), lse(1);
  k[0] = 0.0f;
  double want =
      std::log(1.0 + (keys - 1) * std::exp(static_cast<double>(-0.7f)));
  const WeftHeadStrides one = {1, 1, 1}, all = {keys, 1, 1};
  for (CpuIsa isa : kAllIsas) {
    TestContext context(1, isa);
    callOk(context, weft_cpu_attention,
           {q.data(), k.data(), v.data(), out.data(), lse.data()},
           WeftAttentionRecord{1, 1, keys, 1, 1, 1, 0, 0, WEFT_F32, 1.0, 0.0,
                               one, all, all, one, /*hasBits=*/0});
    EXPECT_NEAR(lse[0], want, 1e-6) << cpuIsaName(isa);
  }
}

TEST(LongSums, RowsOfAnEmbedding) {
  constexpr int64_t count = 300000, rows = 3, width = 5;
  Floats dout(count * width, 0.1f), table(rows * width, 7.7f);
  std::vector<int32_t> ids;
  for (int64_t n = 0; n < count; ++n)
    ids.push_back(n % 10 == 0 ? 2 : 0);
  for (CpuIsa isa : kAllIsas)
    for (int64_t adds : {0, 1}) {
      TestContext context(2, isa);
      Floats got = table;
      callOk(context, weft_cpu_embedding_grad,
             {dout.data(), ids.data(), got.data()},
             WeftEmbeddingGradRecord{count, rows, width, WEFT_I32, adds,
                                     WEFT_F32, WEFT_F32});
      const int64_t counts[] = {count / 10 * 9, 0, count / 10};
      for (int64_t i = 0; i < rows * width; ++i) {
        double want = (adds ? static_cast<double>(7.7f) : 0.0) +
                      counts[i / width] * static_cast<double>(0.1f);
        EXPECT_EQ(got[i], static_cast<float>(want)) << cpuIsaName(isa);
      }
    }
}
