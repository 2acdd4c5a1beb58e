//===- OpCall.h - One evaluation of one op ----------------------*- C++ -*-===//
//
// What the function of an op works with. It reads its operands and fills its
// results, which are zeros of their declared types at entry; the caller rounds
// them. A command of a plan has what it reads as operands and what it writes as
// results, each in its order: those of the op that it came from, whose function
// runs both. Ops of other dialects bring theirs (InterpretedOpInterface).
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
