//===- GeluProducts.h - A gelu and the product before it --------*- C++ -*-===//
//
// Private to lib/Autodiff.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_AUTODIFF_GELUPRODUCTS_H
#define WEFT_LIB_AUTODIFF_GELUPRODUCTS_H

#include "weft/Weft/Weft.h"

#include "llvm/ADT/SmallVector.h"

namespace weft {

/// The gelu (tanh) `op`, the addition of a bias before it, if there is one, and
/// the product of f32 before that: what a library may compute as one, in the
/// forward part and where it is computed again alike, as nothing else reads
/// what stands between. Nothing for other ops. Asks the users of values: only
/// while there is no backward part.
llvm::SmallVector<mlir::Operation *, 3> findGeluProduct(mlir::Operation *op);

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_GELUPRODUCTS_H
