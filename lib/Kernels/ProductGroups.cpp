//===- ProductGroups.cpp - Products with what stands around them ----------===//
//
// A group grows from its product outwards: a bias, an activation or the adjoint
// of one, sums over the rows. A part joins if the library has it and if nothing
// is rounded and nothing else reads in between, so that results stay the same.
//
//===----------------------------------------------------------------------===//

#include "Selection.h"
#include "weft/Weft/Precision.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace weft;

namespace {

/// A product and the ops that one command computes with it.
class ProductGroup {
public:
  ProductGroup(MatmulOp root, const KernelLibrary &library, ChoiceLog &log)
      : root(root), library(library), log(log), end(root.getResult()),
        place(root), bias(root.getBias()) {}

  void grow();
  /// Puts one op in the place of all.
  void merge();
  MergeCounts getCounts() const { return {unsigned(members.size()), missed}; }

private:
  bool addBias();
  bool addActivation();
  bool addGradient();
  bool addColumnSum();

  bool mayJoin(ProductPart part, Operation *op);
  void keepOut(Operation *op, const Twine &reason);
  SmallVector<Operation *> getReaders() const;
  void join(Operation *op, Value operand = Value());
  Operation *getPlace(Value operand) const;
  Operation *build(OpBuilder &builder, Location loc);

  MatmulOp root;
  const KernelLibrary &library;
  ChoiceLog &log;
  /// The last value of the group, and where the op can stand.
  Value end;
  Operation *place;
  SmallVector<Operation *> members;
  unsigned missed = 0;

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

/// What reads the end of the group, in the order of the program.
SmallVector<Operation *> ProductGroup::getReaders() const {
  SmallVector<Operation *> readers(end.user_begin(), end.user_end());
  llvm::sort(readers, [](Operation *a, Operation *b) {
    return a != b && a->isBeforeInBlock(b);
  });
  return readers;
}

void ProductGroup::keepOut(Operation *op, const Twine &reason) {
  log.add(op, "is not part of the product before it: " + reason);
  ++missed;
}

/// Whether `op`, which reads the end of the group, can be part of it; else says
/// why not.
bool ProductGroup::mayJoin(ProductPart part, Operation *op) {
  if (!library.hasPart(part))
    keepOut(op, "products of " + library.getTitle() + " have no " +
                    stringifyProductPart(part));
  else if (isLowPrecision(getElement(end)))
    keepOut(op, "it is rounded before");
  else if (!library.mayMerge(part, root))
    keepOut(op, "another order of sums would give other bits");
  else
    return true;
  return false;
}

/// Parts with an operand have the only use of the end before them: nothing
/// reads the group between its first op and the place.
void ProductGroup::join(Operation *op, Value operand) {
  log.add(op, "is part of the product before it");
  place = getPlace(operand);
  members.push_back(op);
  end = op->getResult(0);
}

/// The vector that `add` adds to every row of `end`, or null.
static Value findBias(AddOp add, Value end, Type element) {
  Value other = add.getLhs() == end ? add.getRhs() : add.getLhs();
  bool isRow = add.getResult().getType() == end.getType() &&
               getShape(other).size() == 1 &&
               getColumns(other) == getColumns(end) &&
               getElement(other) == element;
  return isRow ? other : Value();
}

bool ProductGroup::addBias() {
  if (bias)
    return false;
  for (Operation *reader : getReaders()) {
    auto add = dyn_cast<AddOp>(reader);
    Value row = add ? findBias(add, end, getElement(root.getLhs())) : Value();
    if (!row)
      continue;
    if (!end.hasOneUse()) {
      keepOut(add, "another op reads the product");
      return false;
    }
    if (!mayJoin(ProductPart::Bias, add))
      return false;
    join(add, row);
    bias = row;
    return true;
  }
  return false;
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
  for (Operation *user : getReaders()) {
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
  if (bias)
    return false;
  for (Operation *user : getReaders()) {
    Value operand;
    auto gradient = findGradient(user, end, operand);
    if (!gradient)
      continue;
    if (!end.hasOneUse()) {
      keepOut(user, "another op reads the product");
      return false;
    }
    if (!mayJoin(gradient->first, user))
      return false;
    join(user, operand);
    aux = operand;
    epilogue = gradient->second;
    return true;
  }
  return false;
}

/// Whether the op adds up the rows of `value`.
static bool sumsRows(Operation *op, Value value) {
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && reduce.getKind() == ReduceKind::Sum &&
         getShape(reduce.getResult()) == getShape(value).take_back() &&
         llvm::equal(reduce.getDims(),
                     llvm::seq<int64_t>(0, getShape(value).size() - 1));
}

/// A product that adds to what is there sums no rows: those of the product
/// alone are wanted.
bool ProductGroup::addColumnSum() {
  bool isAdded = llvm::any_of(getReaders(), llvm::IsaPred<AccumulateOp>);
  for (Operation *user : getReaders()) {
    if (!sumsRows(user, end))
      continue;
    if (isAdded) {
      keepOut(user, "the product is added to something");
      continue;
    }
    if (!mayJoin(ProductPart::ColumnSum, user))
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

MergeCounts weft::mergeProducts(ProgramOp program, const KernelLibrary &library,
                                ChoiceLog &log) {
  MergeCounts counts;
  SmallVector<MatmulOp> products(program.getBody().front().getOps<MatmulOp>());
  for (MatmulOp product : products) {
    ProductGroup group(product, library, log);
    group.grow();
    counts.merged += group.getCounts().merged;
    counts.missed += group.getCounts().missed;
    group.merge();
  }
  return counts;
}
