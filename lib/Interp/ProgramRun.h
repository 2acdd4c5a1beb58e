//===- ProgramRun.h - One rank's run of a program ---------------*- C++ -*-===//
//
// Programs of several ranks run in lockstep: each op is evaluated for all ranks
// before the next op, so a collective has the operands of all ranks.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LIB_INTERP_PROGRAMRUN_H
#define WEFT_LIB_INTERP_PROGRAMRUN_H

#include "weft/Interp/OpCall.h"

namespace weft {

class ProgramRun {
public:
  virtual ~ProgramRun() = default;

  /// The ops in evaluation order, which is the same on all ranks.
  virtual std::vector<mlir::Operation *> listOps() = 0;
  /// The call of an op. Its operands remain valid until complete(). Nothing for
  /// an op that the run has evaluated itself.
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
