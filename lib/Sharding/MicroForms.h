//===- MicroForms.h - Program variants for the micro-steps ------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_MICROFORMS_H
#define WEFT_LIB_SHARDING_MICROFORMS_H

#include "SlicedStates.h"

namespace weft {

/// Declares an accumulator for each sharded gradient: the full gradient that a
/// rank accumulates over the micro-steps of a step. Makes one program for
/// micro-steps that reduce it and one for micro-steps that keep it.
void declareAccumulators(ProgramOp micro, const SlicedStates &states);

/// Makes separate programs for the micro-steps after the first one.
void makeLaterForms(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_SHARDING_MICROFORMS_H
