//===- ApplyProgram.h - The program that updates ----------------*- C++ -*-===//

#ifndef WEFT_LIB_TRAINING_APPLYPROGRAM_H
#define WEFT_LIB_TRAINING_APPLYPROGRAM_H

#include "UpdateGroups.h"

namespace weft {

/// Builds the program `@apply` and the states it needs. `p` is the norm that
/// clipping limits, `nesterov` the default of sgd.
void buildApplyProgram(mlir::ModuleOp module, llvm::ArrayRef<Update> updates,
                       ScalerStates scaler, double p, bool nesterov);

} // namespace weft

#endif // WEFT_LIB_TRAINING_APPLYPROGRAM_H
