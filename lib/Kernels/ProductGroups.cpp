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
  ProductGroup(MatmulOp root, const KernelLibrary &library,
               MergeOptions options, ChoiceLog &log)
      : root(root), library(library), options(options), log(log),
        end(root.getResult()), place(root), bias(root.getBias()) {}

  void grow();
  /// Puts one op in the place of all.
  void merge();
  MergeCounts getCounts() const { return {unsigned(members.size()), missed}; }

private:
  bool addBias();
  bool addActivation();
  bool addGradient();
  bool addColumnSum();

  /// Whether the op could be a part if `value` were the end.
  bool couldJoin(Operation *op, Value value);
  /// Says of ops that read the end only behind another op what is in between.
  void reportBehind();

  /// The reason that there is no such part.
  std::string lacks(StringRef part) const;
  std::string refuseBias(Value row, Operation *between);
  bool mayJoin(ProductPart part, Operation *op);
  PartialProduct getPartial() const {
    return {root, bias != Value(), epilogue, !end.hasOneUse()};
  }
  void keepOut(Operation *op, const Twine &reason);
  void join(Operation *op, Value operand = Value());
  Operation *getPlace(Value operand) const;
  Operation *build(OpBuilder &builder, Location loc);

  MatmulOp root;
  const KernelLibrary &library;
  MergeOptions options;
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

/// What reads the value, in the order of the program.
static SmallVector<Operation *> getReaders(Value value) {
  SmallVector<Operation *> readers(value.user_begin(), value.user_end());
  llvm::sort(readers, [](Operation *a, Operation *b) {
    return a != b && a->isBeforeInBlock(b);
  });
  return readers;
}

void ProductGroup::keepOut(Operation *op, const Twine &reason) {
  log.add(op, "is not part of the product before it: " + reason);
  ++missed;
}

std::string ProductGroup::lacks(StringRef part) const {
  return ("products of " + library.getTitle() + " have no " + part).str();
}

/// Whether `op`, which reads the end of the group, can be part of it; else says
/// why not.
bool ProductGroup::mayJoin(ProductPart part, Operation *op) {
  if (!library.hasPart(part))
    keepOut(op, lacks(stringifyProductPart(part)));
  else if (!options.epilogues && part != ProductPart::Bias)
    keepOut(op, "epilogues are off");
  else if (isLowPrecision(getElement(end)) && !options.fast)
    keepOut(op, "it is rounded before");
  else if (!library.mayMerge(part, root))
    keepOut(op, "another order of sums would give other bits");
  else if (std::string reason = library.findObstacle(part, getPartial());
           !reason.empty())
    keepOut(op, reason);
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

/// Whether the op (or null) only names or repeats elements of its operand.
static bool isRepeat(Operation *op) {
  return renames(op) || isa_and_nonnull<BroadcastOp, MaterializeOp>(op);
}

static bool isOneRow(Value value) {
  return !getShape(value).empty() &&
         cast<ShapedType>(value.getType()).getNumElements() ==
             getColumns(value);
}

/// The values of every row of `value`: a vector if there is one. `between` is
/// the last of the ops that repeat it.
static Value findRow(Value value, Operation *&between) {
  const int64_t columns = getColumns(value);
  while (getShape(value).size() != 1) {
    Operation *definer = value.getDefiningOp();
    if (!isRepeat(definer) || getShape(definer->getOperand(0)).empty() ||
        getColumns(definer->getOperand(0)) != columns)
      break;
    between = between ? between : definer;
    value = definer->getOperand(0);
  }
  return isOneRow(value) ? value : Value();
}

/// What `add` adds to every row of `end`, or null.
static Value findBias(AddOp add, Value end, Operation *&between) {
  Value other = add.getLhs() == end ? add.getRhs() : add.getLhs();
  if (add.getResult().getType() != end.getType() || getShape(other).empty() ||
      getColumns(other) != getColumns(end))
    return Value();
  Value row = findRow(other, between);
  // One row beside one row is a sum of two tensors.
  bool isVector = row && getShape(row).size() == 1;
  return isVector || !isOneRow(end) ? row : Value();
}

/// Why a product cannot add the row that it could add otherwise, or "".
std::string ProductGroup::refuseBias(Value row, Operation *between) {
  std::string reason;
  llvm::raw_string_ostream text(reason);
  Type element = getElement(root.getLhs());
  if (bias)
    text << "the product has a bias already";
  else if (between)
    text << "its bias is behind a " << between->getName().stripDialect();
  else if (getShape(row).size() != 1)
    text << "its bias has " << getShape(row).size() << " dimensions";
  else if (getElement(row) != element)
    text << "its bias is " << getElement(row) << ", but the product reads "
         << element;
  else if (!end.hasOneUse())
    text << "another op reads the product";
  return reason;
}

bool ProductGroup::addBias() {
  for (Operation *reader : getReaders(end)) {
    auto add = dyn_cast<AddOp>(reader);
    Operation *between = nullptr;
    Value row = add ? findBias(add, end, between) : Value();
    if (!row)
      continue;
    if (std::string reason = refuseBias(row, between); !reason.empty()) {
      keepOut(add, reason);
      continue;
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

static bool isGeluWithErf(Operation *op) {
  auto gelu = dyn_cast<GeluOp>(op);
  return gelu && gelu.getApproximate() == GeluKind::None;
}

bool ProductGroup::addActivation() {
  for (Operation *user : getReaders(end)) {
    if (isGeluWithErf(user))
      keepOut(user, lacks("gelu with erf"));
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
/// gradient: that alone for one that no product has.
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
  for (Operation *user : getReaders(end)) {
    Value operand;
    auto gradient = findGradient(user, end, operand);
    if (!gradient && operand)
      keepOut(user, lacks("gelu_grad with erf"));
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
  bool isAdded = llvm::any_of(getReaders(end), llvm::IsaPred<AccumulateOp>);
  for (Operation *user : getReaders(end)) {
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

bool ProductGroup::couldJoin(Operation *op, Value value) {
  Operation *between = nullptr;
  Value operand;
  std::optional<ProductPart> part;
  if (auto add = dyn_cast<AddOp>(op); add && !bias)
    part = findBias(add, value, between) ? ProductPart::Bias : part;
  else if (auto activation = findActivation(op))
    part = activation->first;
  else if (auto gradient = findGradient(op, value, operand))
    part = gradient->first;
  else if (sumsRows(op, value))
    part = ProductPart::ColumnSum;
  return part && library.hasPart(*part) && library.mayMerge(*part, root);
}

void ProductGroup::reportBehind() {
  SmallVector<std::pair<Operation *, StringRef>> repeats;
  auto addRepeat = [&](Operation *op, StringRef name) {
    if (isRepeat(op))
      repeats.push_back({op, name});
  };
  for (Operation *reader : getReaders(end))
    addRepeat(reader, reader->getName().stripDialect());
  for (size_t i = 0; i != repeats.size(); ++i) {
    auto [repeat, name] = repeats[i];
    for (Operation *reader : getReaders(repeat->getResult(0))) {
      addRepeat(reader, name);
      if (couldJoin(reader, repeat->getResult(0)))
        keepOut(reader, "a " + name + " is in between");
    }
  }
}

void ProductGroup::grow() {
  addBias();
  if (!addActivation())
    addGradient();
  addColumnSum();
  reportBehind();
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
                        typeOf(columnSum), /*lhs_sum=*/Type(),
                        /*rhs_sum=*/Type(), root.getLhs(), root.getRhs(), bias,
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
                                MergeOptions options, ChoiceLog &log) {
  MergeCounts counts;
  SmallVector<MatmulOp> products(program.getBody().front().getOps<MatmulOp>());
  for (MatmulOp product : products) {
    ProductGroup group(product, library, options, log);
    group.grow();
    counts.merged += group.getCounts().merged;
    counts.missed += group.getCounts().missed;
    group.merge();
  }
  return counts;
}
