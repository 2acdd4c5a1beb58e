//===- Precision.h - Questions about low precision --------------*- C++ -*-===//

#ifndef WEFT_WEFT_PRECISION_H
#define WEFT_WEFT_PRECISION_H

#include "weft/Weft/Weft.h"

namespace weft {

/// Whether the type is f16 or bf16.
inline bool isLowPrecision(mlir::Type element) {
  return element.isF16() || element.isBF16();
}

/// Fails with an error on the first region of `program` that
/// weft-inline-recompute resolves.
llvm::LogicalResult checkRecomputeIsInlined(ProgramOp program);

/// Fails with an error on the first op of `program` that weft-inline-recompute
/// or weft-autocast resolves: a region, or an op with the attribute `dtype`.
llvm::LogicalResult checkRegionsAreResolved(ProgramOp program);

} // namespace weft

#endif // WEFT_WEFT_PRECISION_H
