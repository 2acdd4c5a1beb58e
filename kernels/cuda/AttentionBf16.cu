//===- AttentionBf16.cu - Attention of bf16 heads ------------------------===//

#include "AttentionLow.h"

using namespace weft::cuda;

#if WEFT_HAS_HEADS(64)
WEFT_LOW_ATTENTION(bf16_64, Bf16, 64, false)
#endif
#if WEFT_HAS_VARIANT(64)
WEFT_LOW_ATTENTION(bf16_64_variant, Bf16, 64, true)
#endif
#if WEFT_HAS_HEADS(128)
WEFT_LOW_ATTENTION(bf16_128, Bf16, 128, false)
#endif
#if WEFT_HAS_VARIANT(128)
WEFT_LOW_ATTENTION(bf16_128_variant, Bf16, 128, true)
#endif
#if WEFT_HAS_HEADS(256)
WEFT_LOW_ATTENTION(bf16_256, Bf16, 256, false)
#endif
#if WEFT_HAS_VARIANT(256)
WEFT_LOW_ATTENTION(bf16_256_variant, Bf16, 256, true)
#endif
