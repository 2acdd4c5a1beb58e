//===- AttentionLow.h - Attention of f16 and bf16 heads ---------*- C++ -*-===//
//
// As AttentionWide.cu, on tensor cores: scores and probabilities stay in the
// registers of a warp, which has rows of its own of every tile, and go from one
// product into the next without shared memory. Sums are f32.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CUDA_ATTENTIONLOW_H
#define WEFT_KERNELS_CUDA_ATTENTIONLOW_H

#include "AttentionLowForward.h"
#include "AttentionLowGradient.h"

/// All kernels of a type for heads of up to D elements.
#define WEFT_LOW_ATTENTION(name, Type, D, kDrops)                              \
  WEFT_KERNEL(weft_attention_##name, AttentionArguments, kAttentionThreads,    \
              1) {                                                             \
    lowForward<Type, D, kDrops>(a);                                            \
  }                                                                            \
  WEFT_KERNEL(weft_attention_dq_##name, AttentionArguments, kAttentionThreads, \
              1) {                                                             \
    lowQueryGradients<Type, D, kDrops>(a);                                     \
  }                                                                            \
  WEFT_KERNEL(weft_attention_dk_##name, AttentionArguments, kAttentionThreads, \
              1) {                                                             \
    lowKeyGradients<Type, D, kDrops>(a);                                       \
  }

#endif // WEFT_KERNELS_CUDA_ATTENTIONLOW_H
