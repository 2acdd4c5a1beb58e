//===- AttentionF16.cu - Attention of f16 heads --------------------------===//

#include "AttentionLow.h"

using namespace weft::cuda;

#if WEFT_HAS_HEADS(64)
WEFT_LOW_ATTENTION(f16_64, F16, 64, false)
#endif
#if WEFT_HAS_VARIANT(64)
WEFT_LOW_ATTENTION(f16_64_variant, F16, 64, true)
#endif
#if WEFT_HAS_HEADS(128)
WEFT_LOW_ATTENTION(f16_128, F16, 128, false)
#endif
#if WEFT_HAS_VARIANT(128)
WEFT_LOW_ATTENTION(f16_128_variant, F16, 128, true)
#endif
#if WEFT_HAS_HEADS(256)
WEFT_LOW_ATTENTION(f16_256, F16, 256, false)
#endif
#if WEFT_HAS_VARIANT(256)
WEFT_LOW_ATTENTION(f16_256_variant, F16, 256, true)
#endif
