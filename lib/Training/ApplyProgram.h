//===- ApplyProgram.h - The program that updates ----------------*- C++ -*-===//

#ifndef WEFT_LIB_TRAINING_APPLYPROGRAM_H
#define WEFT_LIB_TRAINING_APPLYPROGRAM_H

#include "UpdateGroups.h"

namespace weft {

/// The loss scale, if `weft-loss-scale` declared one.
struct ScalerStates {
  StateOp scale; // null: no loss scale
  StateOp state; // null: the scale never changes
};

/// Names of the optimizer instances that are checked and counted apart: without
/// a loss scale all stop together, as one.
llvm::SmallVector<llvm::StringRef> getInstances(llvm::ArrayRef<Update> updates,
                                                const ScalerStates &scaler);

/// Builds the program `@apply` and the states it needs. `p` is the norm that
/// clipping limits, `nesterov` the default of sgd.
void buildApplyProgram(mlir::ModuleOp module, llvm::ArrayRef<Update> updates,
                       ScalerStates scaler, double p, bool nesterov);

} // namespace weft

#endif // WEFT_LIB_TRAINING_APPLYPROGRAM_H
