//===- ExpandProducts.h - Products of 32-bit lanes --------------*- C++ -*-===//

#ifndef WEFT_LIB_LOWERING_CPU_EXPANDPRODUCTS_H
#define WEFT_LIB_LOWERING_CPU_EXPANDPRODUCTS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Rewrites products of vectors that were widened from 32 bits, times a
/// constant of 32 bits, of which the lower and the upper words are used alone.
void expandProducts(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_LOWERING_CPU_EXPANDPRODUCTS_H
