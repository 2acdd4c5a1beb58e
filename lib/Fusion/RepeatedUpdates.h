//===- RepeatedUpdates.h - Updates that are alike ---------------*- C++ -*-===//
//
// A model has many parameters of one shape, and their updates differ in their
// tensors alone. The first one is written out and fused; the others call its
// kernels.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_FUSION_REPEATEDUPDATES_H
#define WEFT_LIB_FUSION_REPEATEDUPDATES_H

#include "weft/Weft/Weft.h"

namespace weft {

/// An update that is written out, and those that call its kernels.
struct RepeatedUpdate {
  /// The states that parameter, moments and gradient of the first one are read
  /// from.
  llvm::SmallVector<mlir::Attribute> states;
  /// Which operands of the program's end its results are.
  llvm::SmallVector<unsigned> places;
  llvm::SmallVector<OptimizerOpInterface> repeats;
  /// What the first one became, in any order.
  llvm::SmallVector<CallOp> calls;
};

/// Those of a program by the first op of each, in its order. Each reads its
/// tensors from different states, and all its results leave the program. With
/// `explain`, remarks say what keeps other updates from it.
llvm::MapVector<mlir::Operation *, RepeatedUpdate>
findRepeatedUpdates(ProgramOp program, bool explain);

/// Whether all that is computed from the tensors of an update is elements of
/// its own: `formula` holds its ops in order. If not, a number that depends on
/// them would be that of the first update for all.
bool isByElement(OptimizerOpInterface update,
                 llvm::ArrayRef<mlir::Operation *> formula);

/// Replaces the repeats by calls of the same kernels. Returns how many calls
/// that are.
unsigned callForRepeats(RepeatedUpdate &update);

} // namespace weft

#endif // WEFT_LIB_FUSION_REPEATEDUPDATES_H
