//===- Passes.h - Places of buffers in the arena ----------------*- C++ -*-===//

#ifndef WEFT_MEMORY_PASSES_H
#define WEFT_MEMORY_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {

/// What the offset of every root buffer is a multiple of (`plan.alignment`), in
/// bytes: a power of two.
int64_t getBufferAlignment(mlir::ModuleOp module);

#define GEN_PASS_DECL
#include "weft/Memory/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Memory/Passes.h.inc"

} // namespace weft

#endif // WEFT_MEMORY_PASSES_H
