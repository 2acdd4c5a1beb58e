//===- AttentionBf16.cu - Attention of bf16 heads ------------------------===//

#include "AttentionLow.h"

using namespace weft::cuda;

WEFT_LOW_ATTENTION(bf16, Bf16, 64)
WEFT_LOW_ATTENTION(bf16, Bf16, 128)
WEFT_LOW_ATTENTION(bf16, Bf16, 256)
