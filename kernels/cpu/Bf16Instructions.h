//===- Bf16Instructions.h - Where bf16 instructions are fast ----*- C++ -*-===//
//
// Intel's dot products of bf16 (VDPBF16PS) do half as many products a cycle as
// its f32 instructions. Its tiles (AMX) do 16 times as many. AMD's dot products
// do twice as many.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_KERNELS_CPU_BF16INSTRUCTIONS_H
#define WEFT_KERNELS_CPU_BF16INSTRUCTIONS_H

#include "weft/Runtime/Execute/Context.h"

namespace weft {

/// Whether oneDNN multiplies bf16 in tiles (AMX).
bool hasTiles();

/// Whether products of oneDNN read bf16 without widening it.
bool mayUseBf16(const WeftContext &context);

/// Whether attention multiplies bf16 by dot products (isa/AttentionPairs.h).
bool usesBf16Pairs(const WeftContext &context);

} // namespace weft

#endif // WEFT_KERNELS_CPU_BF16INSTRUCTIONS_H
