//===- ScratchTest.cpp - Scratch is bounded before anything runs ----------===//

#include "Harness.h"

#include <numeric>

using namespace weft;

namespace {

constexpr int kThreads = 3;

/// Ints of attention over [2, 128, 2, 32]: its tiles need every worker.
Ints attentionInts() {
  Ints ints = {2, 128, 128, 2, 2, 32, 1, 0};
  for (int i = 0; i < 4; ++i)
    ints.insert(ints.end(), {128 * 2 * 32, 2 * 32, 32});
  ints.push_back(WEFT_F32);
  return ints;
}

/// A product of a transposed bf16 A, whose scratch lies with the first worker.
Ints productInts() {
  return {1,   768, 512, 512, 1, 0, 768,       512,
          512, 0,   0,   0,   0, 0, WEFT_BF16, WEFT_F32};
}

} // namespace

// A worker keeps the largest piece that any call wanted from it, so the sum can
// exceed what every single call uses.
TEST(Scratch, StaysBelowTheSumOfWhatEveryWorkerNeeds) {
  TestContext context(kThreads);
  int64_t bytes[kThreads] = {};

  Ints product = productInts();
  Lows a(768 * 512), b(512 * 512);
  Floats c(768 * 512);
  callOk(context, weft_cpu_gemm, {a.data(), b.data(), c.data()}, product, {});
  ASSERT_TRUE(weft_cpu_gemm_scratch_bytes(product.data(), bytes, kThreads));

  Ints attention = attentionInts();
  Floats q(2 * 128 * 2 * 32), out(q.size()), lse(2 * 2 * 128);
  callOk(context, weft_cpu_attention,
         {q.data(), q.data(), q.data(), out.data(), lse.data()}, attention,
         {1.0, 0.0});
  weft_cpu_attention_scratch_bytes(attention.data(), false, bytes, kThreads);

  Ints loss = {100000, 2, -100, 0, 0, WEFT_I32, WEFT_F32};
  Floats logits(200000), results(100000 + 2);
  std::vector<int32_t> targets(100000);
  double parts[2];
  callOk(context, weft_cpu_cross_entropy,
         {logits.data(), targets.data(), parts, results.data(), &parts[1]},
         loss, {0.0});
  weft_cpu_cross_entropy_scratch_bytes(loss.data(), bytes, kThreads);

  Ints norm = {2, 40000, 40000, WEFT_F32, WEFT_BF16};
  Floats wide(40000);
  Lows low(40000);
  double total;
  uint8_t bad;
  callOk(context, weft_cpu_norm_and_check,
         {wide.data(), low.data(), &total, &bad}, norm, {2.0});
  weft_cpu_norm_and_check_scratch_bytes(norm.data(), bytes, kThreads);

  Ints rows = {5000, 90000, 4, WEFT_I32, 0, WEFT_F32, WEFT_F32};
  Floats dout(5000 * 4), table(90000 * 4);
  callOk(context, weft_cpu_embedding_grad,
         {dout.data(), targets.data(), table.data()}, rows, {});
  weft_cpu_embedding_grad_scratch_bytes(rows.data(), bytes, kThreads);

  EXPECT_LE(context.scratchBytes(),
            std::accumulate(bytes, bytes + kThreads, int64_t(0)));
  for (int64_t each : bytes)
    EXPECT_GT(each, 0);
}
