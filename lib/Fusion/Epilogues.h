//===- Epilogues.h - Ops that a product can take in -------------*- C++ -*-===//
//
// Recognises ops around a product that a library may compute with it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_FUSION_EPILOGUES_H
#define WEFT_LIB_FUSION_EPILOGUES_H

#include "weft/Analysis/KernelLibrary.h"

#include <optional>
#include <utility>

namespace weft {

/// The users of the value, in program order.
llvm::SmallVector<mlir::Operation *> getReaders(mlir::Value value);

/// Whether the op (or null) only names or repeats elements of its operand.
bool isRepeat(mlir::Operation *op);

/// The row that `add` adds to every row of `end`, or null. `between` is the
/// last of the ops that repeat the row.
mlir::Value findBias(AddOp add, mlir::Value end, mlir::Operation *&between);

using ActivationPart = std::pair<ProductPart, Epilogue>;

/// The part and epilogue for an activation, or nothing if no product has it.
std::optional<ActivationPart> findActivation(mlir::Operation *op);

bool isGeluWithErf(mlir::Operation *op);

/// The part and epilogue for the adjoint of an activation, and in `operand` its
/// operand besides the gradient. For an adjoint that no product has, sets only
/// `operand`.
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

/// Finds the sums of both factors, if the factors are matrices.
llvm::SmallVector<FactorSum> findFactorSums(MatmulOp product);

/// Whether the sum reads a widened copy of the factor that has other users.
bool readsSharedCopy(FactorSum sum);

/// Whether a generated kernel computes elements of the value, given the ops
/// that the library runs.
bool isGenerated(mlir::Value value, const KernelLibrary &library);

/// The direct and indirect users of the values before `place`, in program
/// order.
llvm::SmallVector<mlir::Operation *> findEarlyReaders(mlir::ValueRange values,
                                                      mlir::Operation *place);

/// Moves users of `op` that come before it after it.
void sinkReaders(mlir::Operation *op);

} // namespace weft

#endif // WEFT_LIB_FUSION_EPILOGUES_H
