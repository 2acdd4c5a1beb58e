//===- LowGradients.cpp - Gradients of low-precision copies ---------------===//

#include "LowGradients.h"

#include "Adjoint.h"
#include "weft/Weft/Precision.h"

using namespace mlir;

namespace weft {

DenseSet<Value> findLowCopies(ProgramOp program,
                              llvm::function_ref<bool(StringAttr)> isTrained) {
  DenseSet<Value> reads, copies;
  for (Operation &op : program.getBody().front().without_terminator()) {
    if (op.getNumResults() == 0)
      continue;
    auto read = dyn_cast<ReadOp>(op);
    if (read && isTrained(read.getSourceAttr().getAttr()))
      reads.insert(read.getResult());
    bool isCopy = isa<CastOp>(op) && reads.contains(op.getOperand(0));
    bool isView = movesElements(&op) && copies.contains(op.getOperand(0));
    if ((isCopy || isView || reads.contains(op.getResult(0))) &&
        isLowPrecision(elementTypeOf(op.getResult(0))))
      copies.insert(op.getResult(0));
  }
  return copies;
}

Type onlyLowUse(Value value) {
  Type low;
  for (Operation *user : value.getUsers()) {
    Type element =
        isa<CastOp>(user) ? elementTypeOf(user->getResult(0)) : Type();
    if (!element || !isLowPrecision(element) || (low && low != element))
      return {};
    low = element;
  }
  return low;
}

/// `value` in f32; if a rule rounded it from there, the value before that.
Value GradientWidener::unrounded(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  if (cast && backward.contains(cast) &&
      elementTypeOf(cast.getOperand()).isF32())
    return cast.getOperand();
  auto type = tensorType(value).clone(builder.getF32Type());
  return CastOp::create(builder, value.getLoc(), type, value);
}

/// `grad` without its rounding; computed again if it is private.
FailureOr<Value> GradientWidener::compute(Value grad, bool isPrivate) {
  Operation *op = grad.getDefiningOp();
  if (!op || !backward.contains(op))
    return unrounded(grad);
  auto gradient = dyn_cast<WideGradientOpInterface>(op);
  if (!gradient)
    return op->emitOpError("expects an op that says how its gradient is added "
                           "in f32 (WideGradientOpInterface), but got a "
                           "gradient of ")
           << elementTypeOf(grad) << " from an op that does not";
  if (!isPrivate)
    return unrounded(grad);
  return gradient.buildWideGradient(
      builder, cast<OpResult>(grad),
      [this](Value value) { return unrounded(value); });
}

FailureOr<Value> GradientWidener::widen(Value grad, Type element) {
  if (elementTypeOf(grad) == element)
    return grad;
  if (Value found = done.lookup(grad))
    return found;
  OpBuilder::InsertionGuard guard(builder);
  if (Operation *last = grad.getDefiningOp()) {
    builder.setInsertionPointAfter(last);
    backward.follow(last);
  }
  SmallVector<Operation *> moves;
  Value source = grad;
  bool isPrivate = grad.use_empty();
  while (movesElements(source.getDefiningOp()) &&
         backward.contains(source.getDefiningOp())) {
    moves.push_back(source.getDefiningOp());
    source = moves.back()->getOperand(0);
    isPrivate &= source.hasOneUse();
  }
  FailureOr<Value> computed = compute(source, isPrivate);
  if (failed(computed))
    return failure();
  Value wide = *computed;
  for (Operation *move : llvm::reverse(moves)) {
    Operation *moved = builder.clone(*move);
    moved->setOperand(0, wide);
    wide = moved->getResult(0);
    wide.setType(tensorType(wide).clone(builder.getF32Type()));
  }
  if (elementTypeOf(wide) != element)
    wide = CastOp::create(builder, grad.getLoc(),
                          tensorType(wide).clone(element), wide);
  done[grad] = wide;
  return wide;
}

} // namespace weft
