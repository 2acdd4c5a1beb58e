//===- Activity.h - Values that need a gradient -----------------*- C++ -*-===//
//
// Private to lib/Autodiff.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_ACTIVITY_H
#define WEFT_LIB_AUTODIFF_ACTIVITY_H

#include "weft/Weft/Weft.h"

namespace weft {

/// The values of `program` that may have a gradient: floating-point values that
/// depend on a parameter for which `isTrained` is true.
llvm::DenseSet<mlir::Value>
findActive(ProgramOp program,
           llvm::function_ref<bool(mlir::StringAttr)> isTrained);

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_ACTIVITY_H
