//===- EmbeddingTest.cpp - Gather and scatter-add -------------------------===//

#include "Harness.h"

using namespace weft;

namespace {

std::vector<int32_t> makeIds(int64_t count, int64_t rows) {
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i)
    ids.push_back(static_cast<int32_t>(i * i * 7 % rows));
  return ids;
}

Floats gradient(int64_t n, int64_t v, int64_t c, int64_t accumulate, float flag,
                int threads) {
  TestContext context(threads);
  std::vector<int32_t> ids = makeIds(n, v);
  Floats dout = randomFloats(n * c, 1), table = randomFloats(v * c, 2);
  if (accumulate == 0 || (accumulate == 2 && flag == 0.0f))
    table.assign(v * c, NAN);
  callOk(context, weft_cpu_embedding_grad,
         {dout.data(), ids.data(), table.data(), &flag},
         WeftEmbeddingGradRecord{n, v, c, WEFT_I32, accumulate, WEFT_F32,
                                 WEFT_F32});
  return table;
}

} // namespace

TEST(Embedding, Gathers) {
  for (int64_t n : {1, 7, 500})
    for (int64_t c : {1, 63, 100}) {
      TestContext context(2);
      Floats table = randomFloats(13 * c, 1), out(n * c), wideOut(n * c);
      std::vector<int32_t> ids = makeIds(n, 13);
      Ints wide(ids.begin(), ids.end());
      callOk(context, weft_cpu_embedding,
             {table.data(), ids.data(), out.data()},
             WeftEmbeddingRecord{n, 13, c, WEFT_I32, WEFT_F32});
      callOk(context, weft_cpu_embedding,
             {table.data(), wide.data(), wideOut.data()},
             WeftEmbeddingRecord{n, 13, c, WEFT_I64, WEFT_F32});
      for (int64_t i = 0; i < n * c; ++i)
        EXPECT_EQ(out[i], table[ids[i / c] * c + i % c]);
      EXPECT_TRUE(sameBits(out, wideOut));
    }
}

TEST(Embedding, ScatterAdds) {
  for (int64_t n : {1, 7, 300})
    for (int64_t c : {1, 63, 200})
      for (int64_t accumulate : {0, 1, 2})
        for (float flag : {0.0f, 1.0f}) {
          constexpr int64_t v = 13;
          Floats got = gradient(n, v, c, accumulate, flag, 1);
          Floats dout = randomFloats(n * c, 1), old = randomFloats(v * c, 2);
          bool adds = accumulate == 1 || (accumulate == 2 && flag != 0.0f);
          Doubles want(v * c, 0.0);
          if (adds)
            want.assign(old.begin(), old.end());
          std::vector<int32_t> ids = makeIds(n, v);
          for (int64_t i = 0; i < n * c; ++i)
            want[ids[i / c] * c + i % c] += dout[i];
          EXPECT_LT(largestError(got, want), 1e-5);
          EXPECT_TRUE(sameBits(got, gradient(n, v, c, accumulate, flag, 2)));
          EXPECT_TRUE(sameBits(got, gradient(n, v, c, accumulate, flag, 3)));
        }
}

// The contract of plan.embedding, for all targets: such a row is NaN, and its
// gradient belongs to no row.
TEST(Embedding, IdsWithoutARow) {
  TestContext context(1);
  Floats table = {1, 2, 3, 4}, out(8);
  Ints ids = {1, 2, -1, 0};
  callOk(context, weft_cpu_embedding, {table.data(), ids.data(), out.data()},
         WeftEmbeddingRecord{4, 2, 2, WEFT_I64, WEFT_F32});
  EXPECT_EQ(out[0], 3.0f);
  EXPECT_EQ(out[7], 2.0f);
  for (int i = 2; i < 6; ++i)
    EXPECT_TRUE(std::isnan(out[i]));
  Floats dout = {1, 2, 4, 8}, dtable(2, NAN);
  callOk(context, weft_cpu_embedding_grad,
         {dout.data(), ids.data(), dtable.data()},
         WeftEmbeddingGradRecord{4, 2, 1, WEFT_I64, WEFT_OVERWRITE, WEFT_F32,
                                 WEFT_F32});
  EXPECT_EQ(dtable, (Floats{8.0f, 1.0f}));
}

TEST(Embedding, Errors) {
  Floats x(64);
  std::vector<int32_t> ids = {0, 13, -1};
  expectError(70, "expects columns of at least 1, but got 0",
              weft_cpu_embedding, {x.data(), ids.data(), x.data()},
              WeftEmbeddingRecord{3, 20, 0, WEFT_I32, WEFT_F32});
  expectError(
      70, "expects accumulate of at least 0 and at most 2, but got 3",
      weft_cpu_embedding_grad, {x.data(), ids.data(), x.data()},
      WeftEmbeddingGradRecord{3, 20, 1, WEFT_I32, 3, WEFT_F32, WEFT_F32});
  expectError(70,
              "expects table of dtype f32 (0), f16 (2) or bf16 (3), but got 6",
              weft_cpu_embedding, {x.data(), ids.data(), x.data()},
              WeftEmbeddingRecord{3, 20, 1, WEFT_I32, WEFT_I64});
  expectError(
      70, "expects dtable of dtype f32 (0) or the dtype of dout, but got 2",
      weft_cpu_embedding_grad, {x.data(), ids.data(), x.data()},
      WeftEmbeddingGradRecord{3, 20, 1, WEFT_I32, 0, WEFT_BF16, WEFT_F16});
  expectError(
      70, "expects 4 buffers, but got 3", weft_cpu_embedding_grad,
      {x.data(), ids.data(), x.data()},
      WeftEmbeddingGradRecord{3, 20, 1, WEFT_I32, 2, WEFT_F32, WEFT_F32});
}
