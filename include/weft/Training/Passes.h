//===- Passes.h - The training step as programs -----------------*- C++ -*-===//

#ifndef WEFT_TRAINING_PASSES_H
#define WEFT_TRAINING_PASSES_H

#include "mlir/Pass/Pass.h"

namespace weft {

/// Attributes that `weft-apply-groups` leaves on a `weft.param` for
/// `weft-expand-optimizer`.
constexpr llvm::StringLiteral kLrScaleAttr = "weft.lr_scale";
constexpr llvm::StringLiteral kDecayScaleAttr = "weft.decay_scale";
constexpr llvm::StringLiteral kOptimizerAttr = "weft.optimizer";
constexpr llvm::StringLiteral kOptimizerGroupAttr = "weft.optimizer_group";
/// Dictionary of hyper-parameters that a group fixes.
constexpr llvm::StringLiteral kNumbersAttr = "weft.numbers";

#define GEN_PASS_DECL
#include "weft/Training/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "weft/Training/Passes.h.inc"

} // namespace weft

#endif // WEFT_TRAINING_PASSES_H
