//===- Updates.h - Updates that become one ----------------------*- C++ -*-===//
//
// One op updates parameters whose updates differ in factors alone: it takes
// these by range of elements.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_SHARDING_UPDATES_H
#define WEFT_LIB_SHARDING_UPDATES_H

#include "weft/Weft/Weft.h"

namespace weft {

/// Whether the ops differ in nothing but operands, scope and, if they are
/// updates, factors.
bool haveSameFormula(mlir::Operation *a, mlir::Operation *b);

/// The first of the ops in the program: all they share stands before it.
mlir::Operation *getFirst(llvm::ArrayRef<mlir::Operation *> ops);

/// How many operands of an update or a cast, the first ones, have an element
/// for each of the result. The others are numbers, also where the result is
/// one.
unsigned countPartOperands(mlir::Operation *op);

/// The operand with the weight decay of an update; none of another op.
std::optional<unsigned> getDecayOperand(mlir::Operation *op);

/// Whether two updates read one weight decay, or constants that are equal.
bool readSameDecay(mlir::Operation *a, mlir::Operation *b);

/// The weight decay of the update that stands for the updates `ops`, where the
/// first of them is: the one number that some of them read, which no constant
/// is, since these go into the factors. Nothing if they read several, or one
/// that stands behind the first of them.
mlir::Value chooseDecay(llvm::ArrayRef<mlir::Operation *> ops);

/// The attributes of the op that stands for `ops`, which are alike and whose
/// parts begin at `begins`; `decay` is what chooseDecay gives for updates.
llvm::SmallVector<mlir::NamedAttribute>
joinAttributes(llvm::ArrayRef<mlir::Operation *> ops,
               llvm::ArrayRef<int64_t> begins, mlir::Value decay);

} // namespace weft

#endif // WEFT_LIB_SHARDING_UPDATES_H
