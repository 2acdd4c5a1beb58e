//===- EpilogueFusion.cpp - Merge products with the ops around them -------===//
//
// A group grows from its product outwards: a bias, an activation or the adjoint
// of one, sums over the rows. A part joins if the library has it and if there
// is no rounding and no other user in between, so that results stay the same.
// The product also computes the sums of its factors, unless a kernel computes
// the factor.
//
//===----------------------------------------------------------------------===//

#include "Epilogues.h"
#include "Selection.h"
#include "weft/Base/CountText.h"
#include "weft/Weft/Precision.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace weft;

namespace {

/// A product and the ops that one command computes with it.
class FusedProduct {
public:
  FusedProduct(MatmulOp root, const KernelLibrary &library,
               MergeOptions options, ChoiceLog &log)
      : root(root), library(library), options(options), log(log),
        end(root.getResult()), place(root), bias(root.getBias()) {}

  void grow();
  /// Replaces the members by one op.
  void merge();
  MergeCounts getCounts() const { return {unsigned(members.size()), missed}; }

private:
  bool addBias();
  bool addActivation();
  bool addGradient();
  bool addColumnSum();
  void addFactorSums();
  void addFactorSum(FactorSum sum);

  /// Whether the op could be a part if `value` were the end.
  bool couldJoin(Operation *op, Value value);
  /// Reports ops that could join if there were no other op between them and the
  /// end.
  void reportBehind();

  /// The reason for a part that the library does not have.
  std::string lacks(StringRef part) const;
  std::string refuseBias(Value row, Operation *between);
  std::string refuse(ProductPart part) const;
  std::string refuseFactorSum(FactorSum sum) const;
  bool isNeededBefore(Value value) const;
  bool mayJoin(ProductPart part, Operation *op);
  PartialProduct getPartial() const {
    return {root,
            bias != Value(),
            epilogue,
            !end.hasOneUse(),
            columnSum != Value(),
            lhsSum != Value(),
            rhsSum != Value()};
  }
  void keepOut(Operation *op, const Twine &reason);
  void join(Operation *op, Value operand = Value());
  Operation *getPlace(Value operand) const;
  Operation *build(OpBuilder &builder, Location loc);

  MatmulOp root;
  const KernelLibrary &library;
  MergeOptions options;
  ChoiceLog &log;
  /// The last value of the group, and the position for the merged op.
  Value end;
  Operation *place;
  SmallVector<Operation *> members;
  unsigned missed = 0;

  Value bias, aux, sum, columnSum, lhsSum, rhsSum;
  Epilogue epilogue = Epilogue::None;
};

} // namespace

//===----------------------------------------------------------------------===//
// Which parts
//===----------------------------------------------------------------------===//

/// The later one of `place` and the op that defines `operand`.
Operation *FusedProduct::getPlace(Value operand) const {
  Operation *definer = operand ? operand.getDefiningOp() : nullptr;
  return definer && place->isBeforeInBlock(definer) ? definer : place;
}

void FusedProduct::keepOut(Operation *op, const Twine &reason) {
  log.add(op, "is not part of the product before it: " + reason);
  ++missed;
}

std::string FusedProduct::lacks(StringRef part) const {
  return ("products of " + library.getTitle() + " have no " + part).str();
}

/// The reason why the product cannot have the part, or "".
std::string FusedProduct::refuse(ProductPart part) const {
  const bool readsFactor =
      part == ProductPart::LhsSum || part == ProductPart::RhsSum;
  if (!library.hasPart(part))
    return lacks(stringifyProductPart(part));
  if (!options.epilogues && part != ProductPart::Bias)
    return "epilogues are off";
  if (isLowPrecision(getElementTypeOrSelf(end)) && !options.fast &&
      !readsFactor)
    return "it is rounded before";
  if (!library.mayMerge(part, root))
    return "another order of sums would give other bits";
  return library.findObstacle(part, getPartial());
}

/// Whether `op`, a user of the end of the group, can join. If not, logs the
/// reason.
bool FusedProduct::mayJoin(ProductPart part, Operation *op) {
  std::string reason = refuse(part);
  if (!reason.empty())
    keepOut(op, reason);
  return reason.empty();
}

/// A part with an operand is the only user of the end before it. Nothing reads
/// the group between its first op and the new position.
void FusedProduct::join(Operation *op, Value operand) {
  log.add(op, "is part of the product before it");
  place = getPlace(operand);
  members.push_back(op);
  end = op->getResult(0);
}

/// The reason why a product cannot add the row as its bias, or "".
std::string FusedProduct::refuseBias(Value row, Operation *between) {
  std::string reason;
  llvm::raw_string_ostream text(reason);
  Type element = getElementTypeOrSelf(root.getLhs());
  if (bias)
    text << "the product has a bias already";
  else if (between)
    text << "its bias is behind a " << between->getName().stripDialect();
  else if (getShape(row).size() != 1)
    text << "its bias has " << countText(getShape(row).size(), "dimension");
  else if (getElementTypeOrSelf(row) != element)
    text << "its bias is " << getElementTypeOrSelf(row)
         << ", but the product reads " << element;
  else if (!end.hasOneUse())
    text << "another op reads the product";
  return reason;
}

bool FusedProduct::addBias() {
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

bool FusedProduct::addActivation() {
  for (Operation *user : getReaders(end)) {
    if (isGeluWithErf(user))
      keepOut(user, lacks("gelu with erf"));
    auto activation = findActivation(user);
    if (activation && user->hasAttr(WeftDialect::kApartAttr)) {
      keepOut(user, "one that is computed again would be none");
      continue;
    }
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

bool FusedProduct::addGradient() {
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

/// A column sum is of the product alone. An accumulating product, which adds to
/// old contents, therefore gets none.
bool FusedProduct::addColumnSum() {
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

/// Whether the group depends on the value, or a user of it cannot be moved
/// after the group.
bool FusedProduct::isNeededBefore(Value value) const {
  auto isOfGroup = [&](Operation *op) {
    return op == root || llvm::is_contained(members, op);
  };
  auto staysBefore = [&](Operation *op) {
    return isOfGroup(op) || !isMemoryEffectFree(op) ||
           llvm::any_of(op->getUsers(), isOfGroup);
  };
  return llvm::any_of(value.getUsers(), isOfGroup) ||
         llvm::any_of(findEarlyReaders(value, place->getNextNode()),
                      staysBefore);
}

/// If a kernel computes the factor, that kernel also sums its rows, which it
/// has at hand. The sum is f32 for every element type.
std::string FusedProduct::refuseFactorSum(FactorSum sum) const {
  Type element = getElementTypeOrSelf(sum.op.getResult());
  if (isGenerated(sum.factor, library))
    return "a kernel computes that";
  if (std::string reason = refuse(sum.part); !reason.empty())
    return reason;
  if (isLowPrecision(element))
    return "it is rounded";
  if (readsSharedCopy(sum))
    return "another op widens that too";
  if (isNeededBefore(sum.op.getResult()))
    return "it is needed before the product";
  return "";
}

void FusedProduct::addFactorSum(FactorSum sum) {
  std::string reason = refuseFactorSum(sum);
  if (!reason.empty()) {
    log.add(sum.op,
            "is not merged into the product that reads its operand: " + reason);
    ++missed;
    return;
  }
  log.add(sum.op, "is merged into the product that reads its operand");
  members.push_back(sum.op);
  (sum.part == ProductPart::LhsSum ? lhsSum : rhsSum) = sum.op.getResult();
}

/// Adds one sum per factor; a second one is not merged. A sum that is found for
/// both factors is merged once.
void FusedProduct::addFactorSums() {
  for (FactorSum found : findFactorSums(root)) {
    Value known = found.part == ProductPart::LhsSum ? lhsSum : rhsSum;
    if (!known && !llvm::is_contained(members, found.op))
      addFactorSum(found);
  }
}

bool FusedProduct::couldJoin(Operation *op, Value value) {
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

void FusedProduct::reportBehind() {
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

void FusedProduct::grow() {
  addBias();
  if (!addActivation())
    addGradient();
  addColumnSum();
  addFactorSums();
  reportBehind();
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

Operation *FusedProduct::build(OpBuilder &builder, Location loc) {
  if (epilogue == Epilogue::None && !columnSum && !lhsSum && !rhsSum)
    return MatmulOp::create(builder, loc, end.getType(), root.getLhs(),
                            root.getRhs(), bias, root.getTransposeLhsAttr(),
                            root.getTransposeRhsAttr(), root.getOutAttr());
  auto typeOf = [](Value value) { return value ? value.getType() : Type(); };
  return GemmOp::create(
      builder, loc, end.getType(), typeOf(sum), typeOf(columnSum),
      typeOf(lhsSum), typeOf(rhsSum), root.getLhs(), root.getRhs(), bias, aux,
      root.getTransposeLhsAttr(), root.getTransposeRhsAttr(), root.getOutAttr(),
      EpilogueAttr::get(root.getContext(), epilogue));
}

/// Erases the reshapes and casts of a factor that only a merged sum used.
static void eraseNames(Value value) {
  while (value.use_empty()) {
    Operation *definer = value.getDefiningOp();
    if (!isa_and_nonnull<ReshapeOp, CastOp>(definer))
      return;
    value = definer->getOperand(0);
    definer->erase();
  }
}

void FusedProduct::merge() {
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
  for (Value value : {end, sum, columnSum, lhsSum, rhsSum})
    if (value)
      value.replaceAllUsesWith(merged->getResult(index++));
  sinkReaders(merged);
  for (Operation *member : llvm::reverse(members)) {
    Value operand = member->getOperand(0);
    member->erase();
    eraseNames(operand);
  }
  root.erase();
}

MergeCounts weft::mergeProducts(ProgramOp program, const KernelLibrary &library,
                                MergeOptions options, ChoiceLog &log) {
  MergeCounts counts;
  SmallVector<MatmulOp> products(program.getBody().front().getOps<MatmulOp>());
  for (MatmulOp product : products) {
    FusedProduct group(product, library, options, log);
    group.grow();
    counts.merged += group.getCounts().merged;
    counts.missed += group.getCounts().missed;
    group.merge();
  }
  return counts;
}
