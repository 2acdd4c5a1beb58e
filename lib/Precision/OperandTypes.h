//===- OperandTypes.h - Questions about the types of an op ------*- C++ -*-===//

#ifndef WEFT_LIB_PRECISION_OPERANDTYPES_H
#define WEFT_LIB_PRECISION_OPERANDTYPES_H

#include "weft/Weft/Precision.h"

namespace weft {

mlir::Type elementOf(mlir::Value value);

bool isFloat(mlir::Value value);

/// Whether autocast may cast the value: floating point, not double.
bool isEligible(mlir::Value value);

/// Whether it has rank 0.
bool isScalar(mlir::Value value);

/// Whether the operand may be f32 while the first operand is low.
bool isFactor(CastPolicyOpInterface op, mlir::OpOperand &operand);

/// Parameters, inputs and constants that are no numbers of the program.
bool isLeaf(mlir::Value value);

/// Whether it is a number of the program that `element` cannot hold.
bool isInexact(mlir::Value value, mlir::Type element);

/// The type that PyTorch's op computes in: the widest of the operands, where
/// scalars count only if there is nothing else. Null without floats.
mlir::Type promotedType(CastPolicyOpInterface op, bool withFactors);

/// Sets the types of results that follow from the operands.
llvm::LogicalResult inferTypes(mlir::Operation *op);

} // namespace weft

#endif // WEFT_LIB_PRECISION_OPERANDTYPES_H
