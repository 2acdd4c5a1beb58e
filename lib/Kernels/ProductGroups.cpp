//===- ProductGroups.cpp - Products with what stands around them ----------===//
//
// A group grows from its product outwards: a bias, an activation or the adjoint
// of one, sums over the rows. A part joins if the library has it and if nothing
// is rounded and nothing else reads in between, so that results stay the same.
//
//===----------------------------------------------------------------------===//

#include "Selection.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace weft;

namespace {

/// A product and the ops that one command computes with it.
class ProductGroup {
public:
  ProductGroup(MatmulOp root, const ProductParts &parts, ChoiceLog &log)
      : root(root), parts(parts), log(log), end(root.getResult()), place(root),
        bias(root.getBias()) {}

  void grow();
  /// Puts one op in the place of all.
  void merge();

private:
  bool addBias();
  bool addActivation();
  bool addGradient();
  bool addColumnSum();

  bool mayJoin(ProductPart part, Operation *op);
  void join(Operation *op, Value operand = Value());
  Operation *getPlace(Value operand) const;
  Operation *build(OpBuilder &builder, Location loc);

  MatmulOp root;
  const ProductParts &parts;
  ChoiceLog &log;
  /// The last value of the group, and where the op can stand.
  Value end;
  Operation *place;
  SmallVector<Operation *> members;

  Value bias, aux, sum, columnSum;
  Epilogue epilogue = Epilogue::None;
};

} // namespace

//===----------------------------------------------------------------------===//
// Which parts
//===----------------------------------------------------------------------===//

static Type getElement(Value value) { return getElementTypeOrSelf(value); }

static int64_t getColumns(Value value) { return getShape(value).back(); }

/// The later one of `place` and the op that defines `operand`.
Operation *ProductGroup::getPlace(Value operand) const {
  Operation *definer = operand ? operand.getDefiningOp() : nullptr;
  return definer && place->isBeforeInBlock(definer) ? definer : place;
}

/// Whether `op`, which reads the end of the group, can be part of it; else says
/// why not.
bool ProductGroup::mayJoin(ProductPart part, Operation *op) {
  std::string reason;
  llvm::raw_string_ostream text(reason);
  if (!getElement(end).isF32())
    text << "that is rounded to " << getElement(end);
  else if (!parts.contains(part))
    text << "the library's products have no " << stringifyProductPart(part);
  if (!reason.empty())
    log.add(op, "is not part of the product before it: " + reason);
  return reason.empty();
}

/// Parts with an operand have the only use of the end before them: nothing
/// reads the group between its first op and the place.
void ProductGroup::join(Operation *op, Value operand) {
  log.add(op, "is part of the product before it");
  place = getPlace(operand);
  members.push_back(op);
  end = op->getResult(0);
}

bool ProductGroup::addBias() {
  if (bias || !end.hasOneUse())
    return false;
  auto add = dyn_cast<AddOp>(*end.user_begin());
  if (!add || add.getResult().getType() != end.getType())
    return false;
  Value other = add.getLhs() == end ? add.getRhs() : add.getLhs();
  if (getShape(other).size() != 1 || getColumns(other) != getColumns(end) ||
      getElement(other) != getElement(root.getLhs()) ||
      !mayJoin(ProductPart::Bias, add))
    return false;
  join(add, other);
  bias = other;
  return true;
}

/// The part that an activation is, if a product can have it.
static std::optional<std::pair<ProductPart, Epilogue>>
findActivation(Operation *op) {
  if (isa<ReluOp>(op))
    return {{ProductPart::Relu, Epilogue::Relu}};
  if (auto gelu = dyn_cast<GeluOp>(op))
    if (gelu.getApproximate() == GeluKind::Tanh)
      return {{ProductPart::Gelu, Epilogue::Gelu}};
  return std::nullopt;
}

bool ProductGroup::addActivation() {
  for (Operation *user : end.getUsers()) {
    auto activation = findActivation(user);
    if (!activation || !mayJoin(activation->first, user))
      continue;
    if (!end.hasOneUse())
      sum = end;
    join(user);
    epilogue = activation->second;
    return true;
  }
  return false;
}

/// The part that the adjoint of an activation is, and what it reads beside the
/// gradient.
static std::optional<std::pair<ProductPart, Epilogue>>
findGradient(Operation *op, Value grad, Value &operand) {
  if (auto relu = dyn_cast<ReluGradOp>(op); relu && relu.getGrad() == grad) {
    operand = relu.getOperand();
    return {{ProductPart::ReluGrad, Epilogue::ReluGrad}};
  }
  if (auto gelu = dyn_cast<GeluGradOp>(op); gelu && gelu.getGrad() == grad) {
    operand = gelu.getOperand();
    if (gelu.getApproximate() == GeluKind::Tanh)
      return {{ProductPart::GeluGrad, Epilogue::GeluGrad}};
  }
  return std::nullopt;
}

bool ProductGroup::addGradient() {
  if (bias || !end.hasOneUse())
    return false;
  Operation *user = *end.user_begin();
  Value operand;
  auto gradient = findGradient(user, end, operand);
  if (!gradient || !mayJoin(gradient->first, user))
    return false;
  join(user, operand);
  aux = operand;
  epilogue = gradient->second;
  return true;
}

/// Whether the op adds up the rows of `value`.
static bool sumsRows(Operation *op, Value value) {
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && reduce.getKind() == ReduceKind::Sum &&
         getShape(reduce.getResult()) == getShape(value).take_back() &&
         llvm::equal(reduce.getDims(),
                     llvm::seq<int64_t>(0, getShape(value).size() - 1));
}

bool ProductGroup::addColumnSum() {
  for (Operation *user : end.getUsers()) {
    if (!sumsRows(user, end) || !mayJoin(ProductPart::ColumnSum, user))
      continue;
    log.add(user, "is part of the product before it");
    members.push_back(user);
    columnSum = user->getResult(0);
    return true;
  }
  return false;
}

void ProductGroup::grow() {
  addBias();
  if (!addActivation())
    addGradient();
  addColumnSum();
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

Operation *ProductGroup::build(OpBuilder &builder, Location loc) {
  if (epilogue == Epilogue::None && !columnSum)
    return MatmulOp::create(builder, loc, end.getType(), root.getLhs(),
                            root.getRhs(), bias, root.getTransposeLhsAttr(),
                            root.getTransposeRhsAttr(), root.getOutAttr());
  auto typeOf = [](Value value) { return value ? value.getType() : Type(); };
  return GemmOp::create(builder, loc, end.getType(), typeOf(sum),
                        typeOf(columnSum), root.getLhs(), root.getRhs(), bias,
                        aux, root.getTransposeLhsAttr(),
                        root.getTransposeRhsAttr(), root.getOutAttr(),
                        EpilogueAttr::get(root.getContext(), epilogue));
}

void ProductGroup::merge() {
  if (members.empty())
    return;
  SmallVector<Location> locations = {root.getLoc()};
  for (Operation *member : members)
    locations.push_back(member->getLoc());
  OpBuilder builder(root.getContext());
  builder.setInsertionPointAfter(place);
  Operation *merged = build(builder, builder.getFusedLoc(locations));
  copyScope(root, merged);
  unsigned index = 0;
  for (Value value : {end, sum, columnSum})
    if (value)
      value.replaceAllUsesWith(merged->getResult(index++));
  for (Operation *member : llvm::reverse(members))
    member->erase();
  root.erase();
}

void weft::mergeProducts(ProgramOp program, const ProductParts &parts,
                         ChoiceLog &log) {
  SmallVector<MatmulOp> products(program.getBody().front().getOps<MatmulOp>());
  for (MatmulOp product : products) {
    ProductGroup group(product, parts, log);
    group.grow();
    group.merge();
  }
}
