//===- PassUses.h - Uses of parameters in both passes -----------*- C++ -*-===//

#ifndef WEFT_LIB_SHARDING_PASSUSES_H
#define WEFT_LIB_SHARDING_PASSUSES_H

#include "Reshard.h"

#include "weft/Weft/Weft.h"

namespace weft {

/// The uses of a state by ops other than views, through views. Each pass
/// gathers the state for its own uses.
struct PassUses {
  llvm::SmallVector<mlir::OpOperand *> forward, backward;
};

/// The op that computes the loss of a program with a backward pass, or null.
mlir::Operation *findLoss(ProgramOp program);

/// Splits the uses at `loss`: later ops are the backward pass. With a null
/// `loss`, all uses are in the forward pass.
PassUses splitUses(ReadOp read, mlir::Operation *loss);

/// Splits the uses of each read like splitUses. All uses of a read are in the
/// forward pass if `reshard` does not free it, or if the last unit of the
/// forward pass uses it: the backward pass begins with that unit.
llvm::SmallVector<PassUses> findPassUses(llvm::ArrayRef<ReadOp> reads,
                                         mlir::Operation *loss,
                                         const Reshard &reshard);

} // namespace weft

#endif // WEFT_LIB_SHARDING_PASSUSES_H
