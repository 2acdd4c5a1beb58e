//===- Picks.h - Elements at an index of a row ------------------*- C++ -*-===//
//
// A comparison of the number of an element with one number for each row, as
// the target of a row of logits, holds for one element of the row. A total of
// `number == index ? x : nothing` is that element.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LOWERING_LINALG_PICKS_H
#define WEFT_LOWERING_LINALG_PICKS_H

#include "weft/Lowering/Linalg/LinalgKernel.h"

namespace weft {

/// The number in `number == index of a lane`, the same for all lanes; or null.
mlir::Value getComparedNumber(const KernelShape &shape, const KernelNest &nest,
                              mlir::Operation *op);

/// The index of the element that a total picks, or null.
mlir::Value getPickedIndex(const KernelShape &shape, const KernelNest &nest,
                           const NestTotal &total);

/// The element that a total picks, a value of each lane.
mlir::Value getPickedElement(const NestTotal &total);

} // namespace weft

#endif // WEFT_LOWERING_LINALG_PICKS_H
