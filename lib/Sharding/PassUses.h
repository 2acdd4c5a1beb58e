//===- PassUses.h - Uses of parameters in both passes -----------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_PASSUSES_H
#define WEFT_LIB_SHARDING_PASSUSES_H

#include "Reshard.h"

#include "weft/Weft/Weft.h"

namespace weft {

/// The uses of a state by ops that are no views, through views. Each pass
/// gathers it for its own.
struct PassUses {
  llvm::SmallVector<mlir::OpOperand *> forward, backward;
};

/// The op that makes the loss of a program with a backward pass, or null.
mlir::Operation *findLoss(ProgramOp program);

/// What comes behind `loss` is the backward pass; null: all is one pass.
PassUses splitUses(ReadOp read, mlir::Operation *loss);

/// Those of each read. What comes behind `loss` is the backward pass; null: all
/// is one pass. What the last unit of the forward pass uses stays for the
/// backward pass, which begins with it: it is one pass, too; and so is what
/// `reshard` does not free.
llvm::SmallVector<PassUses> findPassUses(llvm::ArrayRef<ReadOp> reads,
                                         mlir::Operation *loss,
                                         const Reshard &reshard);

} // namespace weft

#endif // WEFT_LIB_SHARDING_PASSUSES_H
