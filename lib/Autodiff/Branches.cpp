//===- Branches.cpp - What layer drops leave out --------------------------===//

#include "Branches.h"

#include "GradientSums.h"
#include "weft/Formats/Names.h"

using namespace mlir;

namespace weft {

Branches::Branches(ProgramOp program, OpBuilder &builder, BackwardOps &backward)
    : builder(builder), backward(backward),
      last(program.getTerminator()->getPrevNode()) {
  for (Operation &op : llvm::reverse(program.getBody().front())) {
    place(&op);
    const Branch *own = of(&op);
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

/// The loss is an output; no other one has a gradient.
bool Branches::isNeeded(OpOperand &use) const {
  auto end = dyn_cast<ReturnOp>(use.getOwner());
  return end ? int(use.getOperandNumber()) ==
                   end->getParentOfType<ProgramOp>().findOutput(names::kLoss)
             : deciding.contains(use.getOwner());
}

SmallVector<const Branch *> Branches::findDeciding(OpOperand &use) const {
  auto own = operands.find({use.getOwner(), use.getOperandNumber()});
  if (own != operands.end())
    return {own->second};
  auto found = deciding.find(use.getOwner());
  if (found == deciding.end())
    return {nullptr};
  return SmallVector<const Branch *>(found->second.getArrayRef());
}

/// One of both branches of a layer drop is taken wherever it is needed itself.
void Branches::simplify(llvm::SetVector<const Branch *> &set) const {
  auto findOther = [&](const Branch *branch) {
    return llvm::find_if(set, [&](const Branch *other) {
      return branch && other && branch->op == other->op &&
             branch->isLayer != other->isLayer;
    });
  };
  auto hasOther = [&](const Branch *branch) {
    return findOther(branch) != set.end();
  };
  for (auto one = llvm::find_if(set, hasOther); one != set.end();
       one = llvm::find_if(set, hasOther)) {
    const Branch *first = *one, *second = *findOther(first);
    set.remove(first);
    set.remove(second);
    set.insert_range(deciding.find(first->op)->second);
  }
}

/// What the loss does not need is in the program itself, as it is.
void Branches::place(Operation *op) {
  const Branch *common = nullptr;
  for (OpOperand &use : op->getUses()) {
    if (!isNeeded(use))
      continue;
    common = deciding.contains(op) ? meet(common, of(use)) : of(use);
    deciding[op].insert_range(findDeciding(use));
  }
  if (auto own = deciding.find(op); own != deciding.end())
    simplify(own->second);
  ops[op] = common;
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
