//===- LowGradients.cpp - Gradients of low-precision copies ---------------===//

#include "GradientSums.h"

#include "Adjoint.h"
#include "weft/Weft/Precision.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft;

DenseSet<Value> weft::findLowCopies(ProgramOp program,
                                    function_ref<bool(StringAttr)> isTrained) {
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

Type weft::onlyLowUse(Value value) {
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

/// `grad` without its rounding; recomputed if it is private.
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

/// The operand of which `op` (or null) moves elements, or that it selects as a
/// whole unless zeros take its place; null if it does neither.
OpOperand *GradientWidener::findMoved(Operation *op) const {
  if (!op || !backward.contains(op))
    return nullptr;
  if (movesElements(op))
    return &op->getOpOperand(0);
  auto select = dyn_cast<SelectOp>(op);
  bool isWhole = select && shapeOf(select.getCondition()).empty() &&
                 shapeOf(select.getOnFalse()) == shapeOf(select.getResult()) &&
                 matchPattern(select.getOnTrue(), m_AnyZeroFloat());
  return isWhole ? &select.getOnFalseMutable() : nullptr;
}

/// The same of `wide`.
Value GradientWidener::moveWide(OpOperand &moved, Value wide) {
  auto select = dyn_cast<SelectOp>(moved.getOwner());
  Value zero = select ? unrounded(select.getOnTrue()) : Value();
  Operation *op = builder.clone(*moved.getOwner());
  op->setOperand(moved.getOperandNumber(), wide);
  if (zero)
    cast<SelectOp>(op).getOnTrueMutable().assign(zero);
  Value result = op->getResult(0);
  result.setType(tensorType(result).clone(builder.getF32Type()));
  return result;
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
  SmallVector<OpOperand *> moves;
  Value source = grad;
  bool isPrivate = grad.use_empty();
  while (OpOperand *moved = findMoved(source.getDefiningOp())) {
    moves.push_back(moved);
    source = moved->get();
    isPrivate &= source.hasOneUse();
  }
  FailureOr<Value> computed = compute(source, isPrivate);
  if (failed(computed))
    return failure();
  Value wide = *computed;
  for (OpOperand *moved : llvm::reverse(moves))
    wide = moveWide(*moved, wide);
  if (elementTypeOf(wide) != element)
    wide = CastOp::create(builder, grad.getLoc(),
                          tensorType(wide).clone(element), wide);
  done[grad] = wide;
  return wide;
}
