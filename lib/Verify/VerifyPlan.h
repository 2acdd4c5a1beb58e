//===- VerifyPlan.h - Checks of weft-verify-plan ----------------*- C++ -*-===//

#ifndef WEFT_LIB_VERIFY_VERIFYPLAN_H
#define WEFT_LIB_VERIFY_VERIFYPLAN_H

#include "mlir/IR/BuiltinOps.h"

namespace weft {

/// Fails with an error unless each record of a stream of collectives has one
/// wait per waiting stream below it in its program, and no collective is in
/// flight when a program ends.
llvm::LogicalResult verifyCollectiveEvents(mlir::ModuleOp module);

/// Checks that two commands of different streams are ordered if they use the
/// same bytes and one of them writes. This holds within one run of each
/// program, and across two runs of any two programs. Every root has its offset.
llvm::LogicalResult verifyStreams(mlir::ModuleOp module);

/// Checks how programs use the states of a module:
///  - a program that writes a parameter also writes the same elements of its
///    working copies. A command that reads the parameter for a copy comes after
///    the write, or is the writing command. Working copies are all states whose
///    `param` it is, or whose segments are all of its segments
///  - a run reads only elements of states that earlier commands have written,
///    whether it begins with `init` or with a checkpoint. Without an `init`
///    program there are only runs from checkpoints. Without training programs,
///    states come from elsewhere and are not checked
llvm::LogicalResult verifyStateOrder(mlir::ModuleOp module);

/// Checks that the states and inputs that `weft.training` names exist and are
/// of the right kind. A part of a plan has no such attribute.
llvm::LogicalResult verifyTraining(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_LIB_VERIFY_VERIFYPLAN_H
