//===- Passes.h - Places of buffers in the arena ----------------*- C++ -*-===//

#ifndef WEFT_MEMORY_PASSES_H
#define WEFT_MEMORY_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#include "weft/Memory/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Memory/Passes.h.inc"

} // namespace weft

#endif // WEFT_MEMORY_PASSES_H
