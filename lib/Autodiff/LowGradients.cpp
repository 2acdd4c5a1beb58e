//===- LowGradients.cpp - Gradients of low-precision copies ---------------===//

#include "LowGradients.h"

#include "Adjoint.h"
#include "weft/Weft/Precision.h"

using namespace mlir;

namespace weft {

/// Whether each element of the result is one of the operand.
static bool movesElements(Operation *op) {
  return isa_and_nonnull<ReshapeOp, TransposeOp, SliceOp, PadOp, BroadcastOp>(
      op);
}

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
Value GradientWidener::compute(Value grad, bool isPrivate) {
  Operation *op = grad.getDefiningOp();
  bool isOurs = op && isPrivate && backward.contains(op);
  Type f32 = builder.getF32Type();
  auto type = tensorType(grad).clone(f32);
  if (auto product = dyn_cast_or_null<MatmulOp>(op); product && isOurs) {
    auto wide = cast<MatmulOp>(builder.clone(*op));
    wide.setOut(f32);
    wide.getResult().setType(type);
    return wide;
  }
  if (auto rows = dyn_cast_or_null<EmbeddingGradOp>(op); rows && isOurs)
    return EmbeddingGradOp::create(builder, op->getLoc(), type, rows.getGrad(),
                                   rows.getIds());
  if (auto sum = dyn_cast_or_null<ReduceOp>(op); sum && isOurs)
    return ReduceOp::create(builder, op->getLoc(), sum.getKind(),
                            unrounded(sum.getOperand()), sum.getDims(),
                            sum.getKeepDims());
  return unrounded(grad);
}

Value GradientWidener::widen(Value grad, Type element) {
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
  Value wide = compute(source, isPrivate);
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
