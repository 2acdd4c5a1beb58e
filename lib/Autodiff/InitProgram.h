//===- InitProgram.h - The program that draws initial values ----*- C++ -*-===//
//
// Private to lib/Autodiff.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_INITPROGRAM_H
#define WEFT_LIB_AUTODIFF_INITPROGRAM_H

#include "weft/Weft/Weft.h"

namespace weft {

/// Builds `@init` at the builder's insertion point. Fails with an error on a
/// parameter without initial values.
llvm::LogicalResult buildInitProgram(mlir::ModuleOp module,
                                     mlir::OpBuilder &builder);

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_INITPROGRAM_H
