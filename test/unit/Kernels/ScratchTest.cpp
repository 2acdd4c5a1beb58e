//===- ScratchTest.cpp - Scratch is bounded before anything runs ----------===//

#include "Harness.h"

#include <numeric>

using namespace weft;

namespace {

constexpr int kThreads = 3;

/// Attention over [2, 128, 2, 32]: its tiles need every worker.
WeftAttentionRecord attentionRecord() {
  const WeftHeadStrides dense = {128 * 2 * 32, 2 * 32, 32};
  return {2,        128, 128, 2,     2,     32,    1,    0,
          WEFT_F32, 1.0, 0.0, dense, dense, dense, dense};
}

/// A product of a transposed bf16 A, whose scratch lies with the first worker.
WeftGemmRecord productRecord() {
  return {1,   768, 512, 512, 1, 0, 768,       512,
          512, 0,   0,   0,   0, 0, WEFT_BF16, WEFT_F32};
}

} // namespace

// A worker keeps the largest piece that any call wanted from it, so the sum can
// exceed what every single call uses.
TEST(Scratch, StaysBelowTheSumOfWhatEveryWorkerNeeds) {
  TestContext context(kThreads);
  int64_t bytes[kThreads] = {};

  WeftGemmRecord product = productRecord();
  Lows a(768 * 512), b(512 * 512);
  Floats c(768 * 512);
  callOk(context, weft_cpu_gemm, {a.data(), b.data(), c.data()}, product);
  ASSERT_TRUE(weft_cpu_gemm_scratch_bytes(&product, bytes, kThreads));

  WeftAttentionRecord attention = attentionRecord();
  Floats q(2 * 128 * 2 * 32), out(q.size()), lse(2 * 2 * 128);
  callOk(context, weft_cpu_attention,
         {q.data(), q.data(), q.data(), out.data(), lse.data()}, attention);
  weft_cpu_attention_scratch_bytes(&attention, false, bytes, kThreads);

  WeftCrossEntropyRecord loss = {100000, 2,        -100,     0,
                                 0,      WEFT_I32, WEFT_F32, 0.0};
  Floats logits(200000), results(100000 + 2);
  std::vector<int32_t> targets(100000);
  double parts[2];
  callOk(context, weft_cpu_cross_entropy,
         {logits.data(), targets.data(), parts, results.data(), &parts[1]},
         loss);
  weft_cpu_cross_entropy_scratch_bytes(&loss, bytes, kThreads);

  RecordBytes norm = {
      WeftNormAndCheckRecord{2.0, 2},
      std::vector<WeftNormPart>{{40000, WEFT_F32}, {40000, WEFT_BF16}}};
  Floats wide(40000);
  Lows low(40000);
  double total;
  uint8_t bad;
  callOk(context, weft_cpu_norm_and_check,
         {wide.data(), low.data(), &total, &bad}, norm);
  weft_cpu_norm_and_check_scratch_bytes(norm.as<WeftNormAndCheckRecord>(),
                                        bytes, kThreads);

  WeftEmbeddingGradRecord rows = {5000, 90000,    4,       WEFT_I32,
                                  0,    WEFT_F32, WEFT_F32};
  Floats dout(5000 * 4), table(90000 * 4);
  callOk(context, weft_cpu_embedding_grad,
         {dout.data(), targets.data(), table.data()}, rows);
  weft_cpu_embedding_grad_scratch_bytes(&rows, bytes, kThreads);

  EXPECT_LE(context.scratchBytes(),
            std::accumulate(bytes, bytes + kThreads, int64_t(0)));
  for (int64_t each : bytes)
    EXPECT_GT(each, 0);
}
