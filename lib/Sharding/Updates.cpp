//===- Updates.cpp - Join updates of several parameters -------------------===//

#include "Updates.h"

using namespace mlir;
using namespace weft;

static constexpr StringLiteral kLrScale = "lr_scale",
                               kDecayScale = "decay_scale",
                               kFactors = "factors";

/// The attributes that all ops of one formula share.
static DictionaryAttr getCommonAttributes(Operation *op) {
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase(WeftDialect::kScopeAttr);
  if (isa<OptimizerOpInterface>(op)) {
    attributes.erase(kLrScale);
    attributes.erase(kDecayScale);
  }
  return attributes.getDictionary(op->getContext());
}

bool weft::haveSameFormula(Operation *a, Operation *b) {
  return a->getName() == b->getName() &&
         a->getNumOperands() == b->getNumOperands() &&
         a->getNumResults() == b->getNumResults() && !a->hasAttr(kFactors) &&
         getCommonAttributes(a) == getCommonAttributes(b);
}

unsigned weft::countPartOperands(Operation *op) {
  auto update = dyn_cast<OptimizerOpInterface>(op);
  // The parameter, its states and the gradient.
  return update ? 2 + update.getStates().size() : op->getNumOperands();
}

std::optional<unsigned> weft::getDecayOperand(Operation *op) {
  auto update = dyn_cast<OptimizerOpInterface>(op);
  if (!update)
    return std::nullopt;
  return update.getNumbers().getBeginOperandIndex() + kDecayNumber;
}

/// The value of a constant, or nothing.
static std::optional<double> getConstant(Value number) {
  auto constant = number.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  auto elements = cast<DenseElementsAttr>(constant.getValue());
  return elements.getSplatValue<APFloat>().convertToDouble();
}

bool weft::readSameDecay(Operation *a, Operation *b) {
  Value mine = a->getOperand(*getDecayOperand(a));
  Value other = b->getOperand(*getDecayOperand(b));
  return mine == other ||
         (getConstant(mine) && getConstant(mine) == getConstant(other));
}

Operation *weft::getFirst(ArrayRef<Operation *> ops) {
  return *std::min_element(
      ops.begin(), ops.end(),
      [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
}

Value weft::chooseDecay(ArrayRef<Operation *> ops) {
  Operation *first = getFirst(ops);
  unsigned number = *getDecayOperand(first);
  Value chosen;
  for (Operation *op : ops) {
    Value decay = op->getOperand(number);
    if (decay == chosen || getConstant(decay))
      continue;
    if (chosen)
      return {};
    chosen = decay;
  }
  if (!chosen)
    return first->getOperand(number);
  Operation *maker = chosen.getDefiningOp();
  return !maker || maker->isBeforeInBlock(first) ? chosen : Value();
}

/// The factors of each segment. Adjacent segments with equal factors share a
/// range.
static SmallVector<UpdateFactors> collectFactors(ArrayRef<Operation *> ops,
                                                 ArrayRef<int64_t> begins,
                                                 Value decay) {
  SmallVector<UpdateFactors> list;
  for (auto [op, begin] : llvm::zip(ops, begins)) {
    auto update = cast<OptimizerOpInterface>(op);
    UpdateFactors own = getUpdateFactors(update).front();
    own.begin = list.empty() ? 0 : begin;
    Value number = op->getOperand(*getDecayOperand(op));
    if (number != decay && getConstant(number) != getConstant(decay))
      own.weightDecay = getConstant(number);
    if (list.empty() || !list.back().hasSameLr(own) ||
        !list.back().hasSameDecay(own))
      list.push_back(own);
  }
  return list;
}

SmallVector<NamedAttribute> weft::joinAttributes(ArrayRef<Operation *> ops,
                                                 ArrayRef<int64_t> begins,
                                                 Value decay) {
  Operation *first = ops.front();
  if (!isa<OptimizerOpInterface>(first))
    return SmallVector<NamedAttribute>(first->getAttrs());
  SmallVector<UpdateFactors> list = collectFactors(ops, begins, decay);
  if (list.size() == 1 && !list.front().weightDecay)
    return SmallVector<NamedAttribute>(first->getAttrs());
  NamedAttrList attributes(getCommonAttributes(first));
  SmallVector<Attribute> factors;
  for (const UpdateFactors &range : list)
    factors.push_back(FactorsAttr::get(first->getContext(), range));
  attributes.set(kFactors, ArrayAttr::get(first->getContext(), factors));
  return SmallVector<NamedAttribute>(attributes.getAttrs());
}
