//===- PhiloxNumbers.h - Random numbers in ops on numbers -------*- C++ -*-===//
//
// Builds the computation of a weft.draw, with ops on scalars or on vectors.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LOWERING_LINALG_PHILOXNUMBERS_H
#define WEFT_LOWERING_LINALG_PHILOXNUMBERS_H

#include "weft/Weft/Weft.h"

#include <array>

namespace weft {

/// The number of (row, element).
mlir::Value buildPhiloxNumber(mlir::OpBuilder &b, mlir::Location loc,
                              PhiloxKind kind, mlir::Value key, mlir::Value row,
                              mlir::Value element);

/// The numbers of the four elements from 4 `block` on.
std::array<mlir::Value, 4> buildPhiloxBlock(mlir::OpBuilder &b,
                                            mlir::Location loc, PhiloxKind kind,
                                            mlir::Value key, mlir::Value row,
                                            mlir::Value block);

} // namespace weft

#endif // WEFT_LOWERING_LINALG_PHILOXNUMBERS_H
