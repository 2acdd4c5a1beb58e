//===- MicroForms.h - Programs of the micro-steps of a step -----*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_MICROFORMS_H
#define WEFT_LIB_SHARDING_MICROFORMS_H

#include "SlicedStates.h"

namespace weft {

/// Declares beside each gradient in slices the whole of it that a rank adds up
/// over the micro-steps of a step, and makes one program for those that reduce
/// it and one for those that keep it.
void declareAccumulators(ProgramOp micro, const SlicedStates &states);

/// Makes programs of their own for the micro-steps behind the first one.
void makeLaterForms(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_SHARDING_MICROFORMS_H
