//===- Passes.h - Places of buffers in the arena ----------------*- C++ -*-===//

#ifndef WEFT_MEMORY_PASSES_H
#define WEFT_MEMORY_PASSES_H

#include "mlir/Pass/Pass.h"

namespace weft {

/// Every root buffer starts at a multiple of this.
constexpr int64_t kBufferAlignment = 64;

#define GEN_PASS_DECL
#include "weft/Memory/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Memory/Passes.h.inc"

} // namespace weft

#endif // WEFT_MEMORY_PASSES_H
