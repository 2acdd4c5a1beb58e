//===- ProductParts.h - What may be part of a product -----------*- C++ -*-===//
//
// Recognises ops around a product that a library may compute with it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_FUSION_PRODUCTPARTS_H
#define WEFT_LIB_FUSION_PRODUCTPARTS_H

#include "weft/Analysis/KernelLibrary.h"

#include <optional>
#include <utility>

namespace weft {

/// What reads the value, in the order of the program.
llvm::SmallVector<mlir::Operation *> getReaders(mlir::Value value);

/// Whether the op (or null) only names or repeats elements of its operand.
bool isRepeat(mlir::Operation *op);

/// What `add` adds to every row of `end`, or null. `between` is the last of the
/// ops that repeat it.
mlir::Value findBias(AddOp add, mlir::Value end, mlir::Operation *&between);

using ActivationPart = std::pair<ProductPart, Epilogue>;

/// The part that an activation is, if a product can have it.
std::optional<ActivationPart> findActivation(mlir::Operation *op);

bool isGeluWithErf(mlir::Operation *op);

/// The part that the adjoint of an activation is, and what it reads beside the
/// gradient: that alone for one that no product has.
std::optional<ActivationPart>
findGradient(mlir::Operation *op, mlir::Value grad, mlir::Value &operand);

/// Whether the op adds up the rows of `value`.
bool sumsRows(mlir::Operation *op, mlir::Value value);

/// The sum of a factor over the inner dimension of its product.
struct FactorSum {
  ReduceOp op;
  ProductPart part; // of which factor
  mlir::Value factor;
};

/// Those of both factors, of one matrix each.
llvm::SmallVector<FactorSum> findFactorSums(MatmulOp product);

/// Whether the sum is that of a widened copy of the factor that is read
/// elsewhere too.
bool readsSharedCopy(FactorSum sum);

/// Whether a generated kernel computes elements of the value, as far as the
/// library leaves it to one.
bool isGenerated(mlir::Value value, const KernelLibrary &library);

/// What stands before `place` and reads the values, directly or through others,
/// in the order of the program.
llvm::SmallVector<mlir::Operation *> findEarlyReaders(mlir::ValueRange values,
                                                      mlir::Operation *place);

/// Moves what reads results of `op` and stands before it behind it.
void sinkReaders(mlir::Operation *op);

} // namespace weft

#endif // WEFT_LIB_FUSION_PRODUCTPARTS_H
