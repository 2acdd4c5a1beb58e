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

/// Whether the processor has tiles (AMX) and the system allows them. oneDNN's
/// own limit (ONEDNN_MAX_CPU_ISA) counts.
bool hasTiles();

/// Whether products of oneDNN read bf16 without widening it.
bool mayUseBf16(const WeftContext &context);

/// The instructions by which attention multiplies bf16 (isa/AttentionWords.h).
enum class Bf16Products {
  None,  // it is widened to f32
  Pairs, // dot products (VDPBF16PS)
  Tiles, // of AMX
};
Bf16Products bf16Products(const WeftContext &context);

} // namespace weft

#endif // WEFT_KERNELS_CPU_BF16INSTRUCTIONS_H
