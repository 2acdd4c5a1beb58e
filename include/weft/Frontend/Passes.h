//===- Passes.h - Passes on imported models ---------------------*- C++ -*-===//

#ifndef WEFT_FRONTEND_PASSES_H
#define WEFT_FRONTEND_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#include "weft/Frontend/Passes.h.inc"

/// All types have static shapes of at most 2^40 elements.
llvm::LogicalResult verifyShapes(mlir::ModuleOp module);

#define GEN_PASS_REGISTRATION
#include "weft/Frontend/Passes.h.inc"

} // namespace weft

#endif // WEFT_FRONTEND_PASSES_H
