//===- Passes.h - From ops to kernels --------------------------*- C++ -*-===//
//
// Chooses which ops run together as one generated kernel, and which routines
// run the others.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_FUSION_PASSES_H
#define WEFT_FUSION_PASSES_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"

namespace weft {

#define GEN_PASS_DECL
#include "weft/Fusion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Fusion/Passes.h.inc"

/// Attaches the scalar bodies and the formulas of composite ops.
void registerFusionModels(mlir::DialectRegistry &registry);
void registerScalarBodies(mlir::DialectRegistry &registry);
void registerNormFormulas(mlir::DialectRegistry &registry);
void registerActivationFormulas(mlir::DialectRegistry &registry);
void registerGradientFormulas(mlir::DialectRegistry &registry);
void registerOptimizerFormulas(mlir::DialectRegistry &registry);
void registerClipFormula(mlir::DialectRegistry &registry);
void registerGradientNormFormulas(mlir::DialectRegistry &registry);
void registerScalerFormulas(mlir::DialectRegistry &registry);
void registerPhiloxBody(mlir::DialectRegistry &registry);
void registerRandomFormulas(mlir::DialectRegistry &registry);
void registerLossFormulas(mlir::DialectRegistry &registry);

} // namespace weft

#endif // WEFT_FUSION_PASSES_H
