//===- Passes.h - From kernels to LLVM for the CPU --------------*- C++ -*-===//

#ifndef WEFT_LOWERING_CPU_PASSES_H
#define WEFT_LOWERING_CPU_PASSES_H

#include "weft/Abi/CpuWorkspaces.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace weft {

#define GEN_PASS_DECL
#include "weft/Lowering/Cpu/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Lowering/Cpu/Passes.h.inc"

/// Registers the dialects, conversions and translations of the lowering.
void registerLoweringCpuModels(mlir::DialectRegistry &registry);

} // namespace weft

#endif // WEFT_LOWERING_CPU_PASSES_H
