//===- ProgramEdits.h - Small edits of programs -----------------*- C++ -*-===//
//
// Private to lib/Autodiff.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_PROGRAMEDITS_H
#define WEFT_LIB_AUTODIFF_PROGRAMEDITS_H

#include "weft/Weft/Weft.h"

namespace weft {

/// A constant of the floating-point tensor type `type` that holds `number`.
mlir::Value makeScalar(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Type type, double number);

/// Removes ops of the body whose results no one uses.
void eraseDeadOps(ProgramOp program);

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_PROGRAMEDITS_H
