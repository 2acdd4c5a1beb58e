//===- AttentionF16.cu - Attention of f16 heads --------------------------===//

#include "AttentionLow.h"

using namespace weft::cuda;

WEFT_LOW_ATTENTION(f16, F16, 64)
WEFT_LOW_ATTENTION(f16, F16, 128)
WEFT_LOW_ATTENTION(f16, F16, 256)
