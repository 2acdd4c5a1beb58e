//===- ProgramRun.h - One rank's run of a program ---------------*- C++ -*-===//
//
// Who runs programs evaluates one op for all ranks, then the next one: ranks
// take turns, and a collective has the operands of all of them at once.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_INTERP_PROGRAMRUN_H
#define WEFT_LIB_INTERP_PROGRAMRUN_H

#include "weft/Interp/OpCall.h"

namespace weft {

class ProgramRun {
public:
  virtual ~ProgramRun() = default;

  /// What is evaluated, in this order, the same on all ranks.
  virtual std::vector<mlir::Operation *> listOps() = 0;
  /// The call of an op, whose operands live until it is completed. Nothing for
  /// one that the run has done itself.
  virtual llvm::FailureOr<std::optional<OpCall>>
  prepare(mlir::Operation *op) = 0;
  /// Takes the results of the call that was prepared last.
  virtual void complete(OpCall &call) = 0;
  /// Writes states and returns the outputs.
  virtual llvm::FailureOr<TensorMap> finish() = 0;
};

/// Evaluates each op for ranks 0, 1, ... in turn. The outputs of each rank; on
/// failure no rank has written a state.
llvm::FailureOr<std::vector<TensorMap>>
runInTurn(llvm::ArrayRef<std::unique_ptr<ProgramRun>> ranks);

} // namespace weft

#endif // WEFT_LIB_INTERP_PROGRAMRUN_H
