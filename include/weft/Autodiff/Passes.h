//===- Passes.h - Programs of a step and their gradients --------*- C++ -*-===//

#ifndef WEFT_AUTODIFF_PASSES_H
#define WEFT_AUTODIFF_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace weft {

/// The type in which gradients of low-precision copies are added.
enum class GradDtype { F32, Torch };
/// Whether gradients are added to the sum of earlier micro-steps.
enum class AccumulationMode { Off, On };

#define GEN_PASS_DECL
#include "weft/Autodiff/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Autodiff/Passes.h.inc"

/// Attribute on forward ops: the numbers of the results that backward ops read.
inline constexpr llvm::StringLiteral kSavedAttr = "weft.saved";

/// Metadata of the fused locations of backward ops.
inline constexpr llvm::StringLiteral kBackwardTag = "backward";

/// Attaches the adjoints (DifferentiableOpInterface) of the weft ops.
void registerAutodiffModels(mlir::DialectRegistry &registry);

} // namespace weft

#endif // WEFT_AUTODIFF_PASSES_H
