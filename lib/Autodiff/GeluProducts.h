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

/// The gelu (tanh) `op`, the bias addition before it, if there is one, and the
/// f32 product before that. No other op reads the values between them, so a
/// library may fuse them, both in the forward part and in its recomputation.
/// Empty for other ops. Precondition: there is no backward part yet, since this
/// inspects the users of the values.
llvm::SmallVector<mlir::Operation *, 3> findGeluProduct(mlir::Operation *op);

} // namespace weft

#endif // WEFT_LIB_AUTODIFF_GELUPRODUCTS_H
