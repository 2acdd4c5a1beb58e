//===- Branches.cpp - Branches of layer drops -----------------------------===//

#include "Branches.h"

#include "GradientSums.h"
#include "weft/Abi/Names.h"

using namespace mlir;
using namespace weft;

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

/// Sorted, so that equal sets compare equal. Empty (always needed) if the set
/// contains null.
static Deciding ordered(ArrayRef<const Branch *> set) {
  if (llvm::is_contained(set, nullptr))
    return {};
  Deciding result(set);
  llvm::sort(result, [](const Branch *a, const Branch *b) {
    return a->number < b->number;
  });
  return result;
}

Deciding Branches::findDeciding(Operation *op) const {
  auto found = deciding.find(op);
  return found == deciding.end() ? Deciding()
                                 : ordered(found->second.getArrayRef());
}

Deciding Branches::findDeciding(OpOperand &use) const {
  auto own = operands.find({use.getOwner(), use.getOperandNumber()});
  return own == operands.end() ? findDeciding(use.getOwner())
                               : Deciding{own->second};
}

Deciding Branches::join(ArrayRef<Deciding> uses) const {
  Set all;
  for (const Deciding &use : uses) {
    if (use.empty())
      return {};
    all.insert_range(use);
  }
  simplify(all);
  return ordered(all.getArrayRef());
}

/// If a set holds both branches of a layer drop, the branches that need the
/// layer drop itself replace them: one of both is taken whenever it is needed.
void Branches::simplify(Set &set) const {
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

/// Records the branch of an op. Ops that the loss does not need belong to no
/// branch.
void Branches::place(Operation *op) {
  const Branch *common = nullptr;
  for (OpOperand &use : op->getUses()) {
    if (!isNeeded(use))
      continue;
    common = deciding.contains(op) ? meet(common, of(use)) : of(use);
    Deciding own = findDeciding(use);
    if (own.empty())
      deciding[op].insert(nullptr);
    deciding[op].insert_range(own);
  }
  if (auto own = deciding.find(op); own != deciding.end())
    simplify(own->second);
  ops[op] = common;
}

/// Builds a condition after the forward ops, so that all backward ops can read
/// it.
template <typename Op, typename... Values>
Value Branches::appendCondition(LayerDropOp about, Values... values) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(last);
  backward.follow(about.getLoc(), getScope(about));
  auto condition = Op::create(builder, about.getLoc(), values...);
  last = condition;
  return condition;
}

/// Whether `from` or a branch between it and `to` was not taken.
Value Branches::isLeftOut(const Branch *from, const Branch *to) {
  Value &condition = conditions[{from, to}];
  if (condition)
    return condition;
  for (; from != to; from = from->outer) {
    LayerDropOp drop = from->op;
    Value own = drop.getDropped();
    if (!from->isLayer)
      own = appendCondition<NotOp>(drop, own);
    condition = condition ? appendCondition<OrOp>(drop, condition, own) : own;
  }
  return condition;
}

/// Whether the loss needs each enclosing layer drop only in the branch that
/// contains it.
bool Branches::isInOneChain(const Branch *branch) const {
  for (; branch; branch = branch->outer) {
    Deciding around = findDeciding(branch->op);
    if (branch->outer ? around != Deciding{branch->outer} : !around.empty())
      return false;
  }
  return true;
}

/// Whether the branch was not taken, or none of the branches was taken for
/// which the loss needs its layer drop.
Value Branches::isLeftOut(const Branch *branch) {
  if (isInOneChain(branch))
    return isLeftOut(branch, nullptr);
  Value &condition = commonConditions[{branch}];
  if (condition)
    return condition;
  Value own = isLeftOut(branch, branch->outer);
  Value around = areLeftOut(findDeciding(branch->op));
  return condition = appendCondition<OrOp>(branch->op, own, around);
}

Value Branches::areLeftOut(const Deciding &branches) {
  if (Value known = commonConditions[branches])
    return known;
  Value all;
  for (const Branch *branch : branches) {
    Value own = isLeftOut(branch);
    all = all ? appendCondition<AndOp>(branch->op, all, own) : own;
  }
  return commonConditions[branches] = all;
}

Value Branches::select(Value grad, Value isZero) {
  OpBuilder::InsertionGuard guard(builder);
  Operation *ready = GradientSums::lastOp({grad, isZero});
  builder.setInsertionPointAfter(ready);
  backward.follow(ready);
  auto type = RankedTensorType::get({}, getElementTypeOrSelf(grad));
  Value zero = ConstantOp::create(
      builder, grad.getLoc(), cast<ElementsAttr>(builder.getZeroAttr(type)));
  return SelectOp::create(builder, grad.getLoc(), isZero, zero, grad);
}

Value Branches::leave(Value grad, const Deciding &from) {
  return from.empty() ? grad : select(grad, areLeftOut(from));
}

/// The rule of a layer drop has zeros for an operand that was not taken. Within
/// a branch it is known that those around it were taken, or nothing that is
/// computed there counts.
Value Branches::leave(Value grad, OpOperand &use) {
  Operation *maker = use.get().getDefiningOp();
  const Branch *to = of(maker);
  auto own = operands.find({use.getOwner(), use.getOperandNumber()});
  if (own != operands.end() && own->second == to)
    return grad;
  Deciding from = findDeciding(use.getOwner());
  if (from == findDeciding(maker))
    return grad;
  if (from.size() == 1 && isInOneChain(from.front()))
    return from.front() == to ? grad
                              : select(grad, isLeftOut(from.front(), to));
  return leave(grad, from);
}

StateOp PresenceCounts::find(const Deciding &deciding) const {
  for (const Entry &entry : entries)
    if (entry.deciding == deciding)
      return entry.state;
  return {};
}

void PresenceCounts::add(const Deciding &deciding, StateOp state) {
  entries.push_back({deciding, state});
}

static Value makeNumber(OpBuilder &builder, StateOp state, float number) {
  return ConstantOp::create(builder, state.getLoc(),
                            cast<ElementsAttr>(DenseElementsAttr::get(
                                state.getTensorType(), number)));
}

SmallVector<std::pair<StringRef, Value>>
PresenceCounts::count(Branches &branches, OpBuilder &builder,
                      BackwardOps &backward, Value flag) const {
  SmallVector<std::pair<StringRef, Value>> counts;
  for (const Entry &entry : entries) {
    StateOp state = entry.state;
    Location loc = state.getLoc();
    Value absent = branches.areLeftOut(entry.deciding);
    backward.follow(loc, "");
    Value count =
        SelectOp::create(builder, loc, absent, makeNumber(builder, state, 0.0f),
                         makeNumber(builder, state, 1.0f));
    if (flag) {
      Value old = ReadOp::create(builder, loc, state.getTensorType(),
                                 state.getSymName());
      count = AccumulateOp::create(builder, loc, old, count, flag);
    }
    counts.push_back({state.getSymName(), count});
  }
  return counts;
}
