//===- Branches.cpp - What layer drops leave out --------------------------===//

#include "Branches.h"

#include "GradientSums.h"

using namespace mlir;

namespace weft {

Branches::Branches(ProgramOp program, OpBuilder &builder, BackwardOps &backward)
    : builder(builder), backward(backward),
      last(program.getTerminator()->getPrevNode()) {
  for (Operation &op : llvm::reverse(program.getBody().front())) {
    const Branch *own = ops[&op] = findInnermost(&op);
    auto drop = dyn_cast<LayerDropOp>(op);
    if (!drop)
      continue;
    for (OpOperand *operand :
         {&drop.getOperandMutable(), &drop.getLayerMutable()}) {
      bool isLayer = operand == &drop.getLayerMutable();
      unsigned number = all.size();
      all.push_back(
          std::make_unique<Branch>(Branch{drop, isLayer, own, number}));
      operands[{drop, operand->getOperandNumber()}] = all.back().get();
    }
  }
}

const Branch *Branches::of(OpOperand &use) const {
  auto found = operands.find({use.getOwner(), use.getOperandNumber()});
  return found == operands.end() ? of(use.getOwner()) : found->second;
}

/// The innermost branch that both are in. Inner branches have larger numbers
/// than those around them.
const Branch *Branches::meet(const Branch *a, const Branch *b) const {
  while (a != b) {
    if (!a || !b)
      return nullptr;
    const Branch *&inner = a->number > b->number ? a : b;
    inner = inner->outer;
  }
  return a;
}

/// What nothing uses is in the program itself, as the terminator is.
const Branch *Branches::findInnermost(Operation *op) const {
  const Branch *common = nullptr;
  bool isFirst = true;
  for (OpOperand &use : op->getUses()) {
    common = isFirst ? of(use) : meet(common, of(use));
    isFirst = false;
  }
  return common;
}

/// Whether `from` or a branch between it and `to` was not taken. It is built
/// where the forward ops end, for all backward ops.
Value Branches::isLeftOut(const Branch *from, const Branch *to) {
  Value &condition = conditions[{from, to}];
  if (condition)
    return condition;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(last);
  for (; from != to; from = from->outer) {
    LayerDropOp drop = from->op;
    Location loc = drop.getLoc();
    backward.follow(loc, getScope(drop));
    Value own = drop.getDropped();
    if (!from->isLayer)
      own = NotOp::create(builder, loc, own);
    condition = condition ? OrOp::create(builder, loc, condition, own) : own;
  }
  if (builder.getInsertionPoint() != std::next(last->getIterator()))
    last = &*std::prev(builder.getInsertionPoint());
  return condition;
}

Value Branches::areLeftOut(ArrayRef<const Branch *> list) {
  Value all;
  for (const Branch *branch : list) {
    Value own = isLeftOut(branch, nullptr);
    all = all ? AndOp::create(builder, own.getLoc(), all, own) : own;
  }
  return all;
}

Value Branches::leave(Value grad, const Branch *from, const Branch *to) {
  if (from == to)
    return grad;
  Value condition = isLeftOut(from, to);
  OpBuilder::InsertionGuard guard(builder);
  Operation *ready = GradientSums::lastOp({grad, condition});
  builder.setInsertionPointAfter(ready);
  backward.follow(ready);
  auto type = RankedTensorType::get({}, getElementTypeOrSelf(grad));
  Value zero = ConstantOp::create(
      builder, grad.getLoc(), cast<ElementsAttr>(builder.getZeroAttr(type)));
  return SelectOp::create(builder, grad.getLoc(), condition, zero, grad);
}

} // namespace weft
