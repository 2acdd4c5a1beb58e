//===- InterpretedPrograms.h - Ports of interpreted programs ----*- C++ -*-===//

#ifndef WEFT_LIB_INTERP_INTERPRETEDPROGRAMS_H
#define WEFT_LIB_INTERP_INTERPRETEDPROGRAMS_H

#include "weft/Interp/Interp.h"
#include "weft/Plan/Plan.h"
#include "weft/Weft/Weft.h"

namespace weft {

ProgramInfo describeProgram(ProgramOp program);
ProgramInfo describeProgram(plan::ProgramOp program);

/// The type of the elements that a buffer shows.
mlir::RankedTensorType getTensorType(mlir::Value buffer);

} // namespace weft

#endif // WEFT_LIB_INTERP_INTERPRETEDPROGRAMS_H
