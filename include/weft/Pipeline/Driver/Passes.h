//===- Passes.h - Contracts of phases ---------------------------*- C++ -*-===//

#ifndef WEFT_PIPELINE_DRIVER_PASSES_H
#define WEFT_PIPELINE_DRIVER_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace weft {

class FlagValues;
class Target;
struct PhaseInfo;

#define GEN_PASS_DECL
#include "weft/Pipeline/Driver/Passes.h.inc"

/// Checks what `phase` promises; errors go to the op that breaks it.
llvm::LogicalResult verifyContract(mlir::ModuleOp module,
                                   const PhaseInfo &phase, const Target &target,
                                   const FlagValues &flags);

#define GEN_PASS_REGISTRATION
#include "weft/Pipeline/Driver/Passes.h.inc"

} // namespace weft

#endif // WEFT_PIPELINE_DRIVER_PASSES_H
