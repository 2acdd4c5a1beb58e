//===- CentralDifference.h - Differences of one program ---------*- C++ -*-===//
//
// Private to lib/Autodiff.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_CENTRALDIFFERENCE_H
#define WEFT_LIB_AUTODIFF_CENTRALDIFFERENCE_H

#include "weft/Autodiff/FiniteDifference.h"

#include "weft/Weft/Weft.h"

#include <random>

namespace weft {

/// A module whose only program is @micro, without gradients, and the values for
/// its run. Its output `loss` may be any tensor. The differentiated function is
/// sum(loss * loss_seed), elementwise, with the input `loss_seed`.
struct GradientProblem {
  mlir::OwningOpRef<mlir::ModuleOp> forward;
  TensorMap inputs, states;
};

/// Differentiates a copy of the problem's program and compares every gradient
/// with central differences; fills in `check.loss` and `check.parameters`.
llvm::LogicalResult compareGradients(const GradientProblem &problem,
                                     const GradientCheckOptions &options,
                                     GradientCheck &check);

/// The first op in program order whose adjoint is wrong on the values that it
/// reads there; nothing if all are right.
llvm::FailureOr<std::optional<OpGradientError>>
findWrongOp(const GradientProblem &problem,
            const GradientCheckOptions &options);

/// Uniform in [-1, 1), the same on every platform.
double drawSigned(std::mt19937_64 &random);

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_CENTRALDIFFERENCE_H
