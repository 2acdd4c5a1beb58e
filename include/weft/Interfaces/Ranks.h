//===- Ranks.h - What collectives on values and buffers share ---*- C++ -*-===//
//
// Rules of ops in which all ranks of a group take part, whichever dialect they
// are of.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_INTERFACES_RANKS_H
#define WEFT_INTERFACES_RANKS_H

#include "mlir/IR/Operation.h"

namespace weft {

/// Ranks that a run may have.
constexpr int64_t kMostRanks = 100'000;

/// A slice of a flat type is one of as many as there are ranks.
llvm::LogicalResult verifySlices(mlir::Operation *op, mlir::ShapedType slice,
                                 mlir::ShapedType full, int64_t ranks);

/// What a mean is divided by, before and after the sum.
llvm::LogicalResult verifyDivisors(mlir::Operation *op, double pre, double post,
                                   int64_t ranks);

/// Numbers that become one each: `sum` and `max` of f64, `or` of i1, and a
/// result of the same type for each.
llvm::LogicalResult verifyReductions(mlir::Operation *op,
                                     mlir::TypeRange numbers,
                                     llvm::ArrayRef<llvm::StringRef> reductions,
                                     mlir::TypeRange results);

} // namespace weft

#endif // WEFT_INTERFACES_RANKS_H
