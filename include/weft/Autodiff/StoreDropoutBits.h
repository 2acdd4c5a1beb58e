//===- StoreDropoutBits.h - Dropout bits of attention -----------*- C++ -*-===//

#ifndef WEFT_AUTODIFF_STOREDROPOUTBITS_H
#define WEFT_AUTODIFF_STOREDROPOUTBITS_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Whether the program of kind micro has attention with dropout whose bits are
/// not stored.
bool drawsInAttention(mlir::ModuleOp module);

/// Makes all attention with dropout in the program of kind micro store its
/// bits, as weft-store-dropout-bits does. Precondition: the program has no
/// backward part yet.
void storeDropoutBits(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_AUTODIFF_STOREDROPOUTBITS_H
