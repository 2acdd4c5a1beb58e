//===- Ranks.h - Rules of collectives on values and buffers -----*- C++ -*-===//
//
// Rules of ops in which all ranks of a group take part, in any dialect.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_INTERFACES_RANKS_H
#define WEFT_INTERFACES_RANKS_H

#include "mlir/IR/OpImplementation.h"

namespace weft {

/// Largest number of ranks of a run.
constexpr int64_t kMostRanks = 100'000;

/// `slice` is one of `ranks` equal shards of the flat type `full`.
llvm::LogicalResult verifySlices(mlir::Operation *op, mlir::ShapedType slice,
                                 mlir::ShapedType full, int64_t ranks);

/// The divisors of a mean, before and after the sum.
llvm::LogicalResult verifyDivisors(mlir::Operation *op, double pre, double post,
                                   int64_t ranks);

/// Numbers that are reduced over ranks (RankReduction): `sum` and `max` of f64,
/// `or` of i1, and a result of the same type for each.
llvm::LogicalResult verifyReductions(mlir::Operation *op,
                                     mlir::TypeRange numbers,
                                     llvm::ArrayRef<int64_t> reductions,
                                     mlir::TypeRange results);

/// `[sum, or]`, each word between `quote`s, which may be missing.
mlir::ParseResult parseReductions(mlir::OpAsmParser &parser,
                                  mlir::DenseI64ArrayAttr &reductions);
void printReductions(mlir::OpAsmPrinter &printer,
                     llvm::ArrayRef<int64_t> reductions, llvm::StringRef quote);

} // namespace weft

#endif // WEFT_INTERFACES_RANKS_H
