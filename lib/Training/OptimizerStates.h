//===- OptimizerStates.h - Moments and step counters of updates -*- C++ -*-===//

#ifndef WEFT_LIB_TRAINING_OPTIMIZERSTATES_H
#define WEFT_LIB_TRAINING_OPTIMIZERSTATES_H

#include "UpdateGroups.h"

namespace weft {

/// Declares the states of `updates` behind their last gradient: a step counter
/// for each group and the moments of each parameter. Programs of the kind init
/// write zeros to them.
void declareOptimizerStates(mlir::ModuleOp module,
                            llvm::ArrayRef<Update> updates);

} // namespace weft

#endif // WEFT_LIB_TRAINING_OPTIMIZERSTATES_H
