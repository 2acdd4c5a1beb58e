//===- Updates.h - Join updates of several parameters -----------*- C++ -*-===//
//
// One op updates several parameters whose updates differ only in their factors.
// It has the factors by range of elements.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_SHARDING_UPDATES_H
#define WEFT_LIB_SHARDING_UPDATES_H

#include "weft/Weft/Weft.h"

namespace weft {

/// Whether the ops differ only in operands, scope and, for updates, factors.
bool haveSameFormula(mlir::Operation *a, mlir::Operation *b);

/// The first of the ops in program order. All operands that they share are
/// defined before it.
mlir::Operation *getFirst(llvm::ArrayRef<mlir::Operation *> ops);

/// Number of leading operands of an update or a cast that have the shape of the
/// result. The others are numbers, even if the result has one element.
unsigned countPartOperands(mlir::Operation *op);

/// The operand number of the weight decay of an update. Nothing for other ops.
std::optional<unsigned> getDecayOperand(mlir::Operation *op);

/// Whether two updates have the same weight decay: the same value, or equal
/// constants.
bool readSameDecay(mlir::Operation *a, mlir::Operation *b);

/// The weight decay operand of an update that replaces `ops` at the position of
/// the first of them. It is the one non-constant weight decay that they read,
/// if any: constants become factors. Null if they read several, or one that is
/// defined after the first op.
mlir::Value chooseDecay(llvm::ArrayRef<mlir::Operation *> ops);

/// The attributes of the op that replaces `ops`, which have the same formula.
/// Their segments begin at `begins`. For updates, `decay` is the result of
/// chooseDecay.
llvm::SmallVector<mlir::NamedAttribute>
joinAttributes(llvm::ArrayRef<mlir::Operation *> ops,
               llvm::ArrayRef<int64_t> begins, mlir::Value decay);

} // namespace weft

#endif // WEFT_LIB_SHARDING_UPDATES_H
