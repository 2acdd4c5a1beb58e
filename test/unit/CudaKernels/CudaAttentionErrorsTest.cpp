//===- CudaAttentionErrorsTest.cpp - Wrong commands of attention ----------===//

#include "AttentionReference.h"

using namespace weft;

TEST(CudaAttentionErrors, Records) {
  AttentionCase c;
  std::vector<const void *> five(5), nine(9), ten(10);
  WeftAttentionRecord record = c.record();
  record.headSize = 257;
  expectCudaError(WEFT_ATTENTION,
                  "expects headSize of at least 1 and at most 256, but got 257",
                  weft_cuda_attention, five, record);
  record = c.record(), record.keyHeads = 3;
  expectCudaError(WEFT_ATTENTION,
                  "expects keyHeads that divides heads 2, but got 3",
                  weft_cuda_attention, five, record);
  c.dropout = 0.5;
  expectCudaError(WEFT_ATTENTION, "expects 6 buffers, but got 5",
                  weft_cuda_attention, five, c.record());
  expectCudaError(WEFT_ATTENTION_GRAD, "expects 10 buffers, but got 9",
                  weft_cuda_attention_grad, nine, c.gradRecord());
  expectCudaError(WEFT_ATTENTION_GRAD,
                  "expects a workspace of at least 80 bytes, but got 0",
                  weft_cuda_attention_grad, ten, c.gradRecord());
  c.storesBits = true;
  expectCudaError(WEFT_ATTENTION, "expects 7 buffers, but got 5",
                  weft_cuda_attention, five, c.record());
  expectCudaError(WEFT_ATTENTION_GRAD, "expects 10 buffers, but got 9",
                  weft_cuda_attention_grad, nine, c.gradRecord());
  c.dropout = 0.0;
  expectCudaError(WEFT_ATTENTION,
                  "expects hasBits of at least 0 and at most 0, but got 1",
                  weft_cuda_attention, five, c.record());
  c.storesBits = false, c.documents = 2;
  const WeftAttentionVariant documents = {0, 1, 0.0};
  expectCudaError(WEFT_ATTENTION, "expects 6 buffers, but got 5",
                  weft_cuda_attention, five,
                  {c.record(), std::vector{documents}});
  c.s = 6;
  expectCudaError(
      WEFT_ATTENTION, "expects as many keys as queries 5, but got 6",
      weft_cuda_attention, ten, {c.record(), std::vector{documents}});
}
