//===- OpCall.h - One evaluation of one op ----------------------*- C++ -*-===//
//
// Arguments of the function that evaluates an op. It reads the operands and
// fills the results, which are zeros of their declared types at entry. The
// caller rounds the results.
//
// For a plan command, the read buffers are the operands and the written buffers
// the results, each in command order. This is the order of the op that the
// command was lowered from, so one function runs both.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_INTERP_OPCALL_H
#define WEFT_INTERP_OPCALL_H

#include "weft/Interp/Interp.h"

namespace weft {

/// One evaluation of one op.
struct OpCall {
  mlir::Operation *op;
  llvm::SmallVector<const Tensor *> operands;
  Interpreter &interpreter;
  llvm::SmallVector<Tensor> results;

  const Tensor &operand(unsigned index) const { return *operands[index]; }
  Tensor &result(unsigned index = 0) { return results[index]; }
  /// Operand 0 cast to `dtype` where the op has one: rounded in f32 mode.
  Tensor castOperand(std::optional<mlir::Type> dtype) const;
  template <typename OpT> OpT as() const { return llvm::cast<OpT>(op); }
  mlir::InFlightDiagnostic fail() const { return op->emitOpError(); }
};

} // namespace weft

#endif // WEFT_INTERP_OPCALL_H
