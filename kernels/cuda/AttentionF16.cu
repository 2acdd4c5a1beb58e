//===- AttentionF16.cu - Attention of f16 heads --------------------------===//

#include "AttentionLow.h"

using namespace weft::cuda;

#if WEFT_HAS_HEADS(64)
WEFT_LOW_ATTENTION(f16_64, F16, 64, false, false)
WEFT_LOW_ATTENTION(f16_64_dropout, F16, 64, true, false)
WEFT_ATTENTION_DELTA(f16_64, F16, 64)
#endif
#if WEFT_HAS_VARIANT(64)
WEFT_LOW_ATTENTION(f16_64_variant, F16, 64, false, true)
WEFT_LOW_ATTENTION(f16_64_variant_dropout, F16, 64, true, true)
WEFT_ATTENTION_DELTA(f16_64_variant, F16, 64)
#endif
#if WEFT_HAS_HEADS(128)
WEFT_LOW_ATTENTION(f16_128, F16, 128, false, false)
WEFT_LOW_ATTENTION(f16_128_dropout, F16, 128, true, false)
WEFT_ATTENTION_DELTA(f16_128, F16, 128)
#endif
#if WEFT_HAS_VARIANT(128)
WEFT_LOW_ATTENTION(f16_128_variant, F16, 128, false, true)
WEFT_LOW_ATTENTION(f16_128_variant_dropout, F16, 128, true, true)
WEFT_ATTENTION_DELTA(f16_128_variant, F16, 128)
#endif
#if WEFT_HAS_HEADS(256)
WEFT_LOW_ATTENTION(f16_256, F16, 256, false, false)
WEFT_LOW_ATTENTION(f16_256_dropout, F16, 256, true, false)
WEFT_ATTENTION_DELTA(f16_256, F16, 256)
#endif
#if WEFT_HAS_VARIANT(256)
WEFT_LOW_ATTENTION(f16_256_variant, F16, 256, false, true)
WEFT_LOW_ATTENTION(f16_256_variant_dropout, F16, 256, true, true)
WEFT_ATTENTION_DELTA(f16_256_variant, F16, 256)
#endif
