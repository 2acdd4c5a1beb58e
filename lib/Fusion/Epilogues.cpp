//===- Epilogues.cpp - Ops that a product can take in ---------------------===//

#include "Epilogues.h"

#include "weft/Analysis/Implementations.h"
#include "weft/Weft/Precision.h"

using namespace mlir;
using namespace weft;

static int64_t getColumns(Value value) { return getShape(value).back(); }

SmallVector<Operation *> weft::getReaders(Value value) {
  SmallVector<Operation *> readers(value.user_begin(), value.user_end());
  llvm::sort(readers, [](Operation *a, Operation *b) {
    return a != b && a->isBeforeInBlock(b);
  });
  return readers;
}

bool weft::isRepeat(Operation *op) {
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

Value weft::findBias(AddOp add, Value end, Operation *&between) {
  Value other = add.getLhs() == end ? add.getRhs() : add.getLhs();
  if (add.getResult().getType() != end.getType() || getShape(other).empty() ||
      getColumns(other) != getColumns(end))
    return Value();
  Value row = findRow(other, between);
  // One row beside one row is a sum of two tensors.
  bool isVector = row && getShape(row).size() == 1;
  return isVector || !isOneRow(end) ? row : Value();
}

std::optional<ActivationPart> weft::findActivation(Operation *op) {
  if (isa<ReluOp>(op))
    return {{ProductPart::Relu, Epilogue::Relu}};
  if (auto gelu = dyn_cast<GeluOp>(op))
    if (gelu.getApproximate() == GeluKind::Tanh)
      return {{ProductPart::Gelu, Epilogue::Gelu}};
  return std::nullopt;
}

bool weft::isGeluWithErf(Operation *op) {
  auto gelu = dyn_cast<GeluOp>(op);
  return gelu && gelu.getApproximate() == GeluKind::None;
}

std::optional<ActivationPart> weft::findGradient(Operation *op, Value grad,
                                                 Value &operand) {
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

bool weft::sumsRows(Operation *op, Value value) {
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && reduce.getKind() == ReduceKind::Sum &&
         getShape(reduce.getResult()) == getShape(value).take_back() &&
         llvm::equal(reduce.getDims(),
                     llvm::seq<int64_t>(0, getShape(value).size() - 1));
}

//===----------------------------------------------------------------------===//
// Sums of factors
//===----------------------------------------------------------------------===//

/// The value that reshapes give another shape.
static Value skipReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

static bool widens(Operation *op) {
  return isa<CastOp>(op) && getElementTypeOrSelf(op->getResult(0)).isF32() &&
         isLowPrecision(getElementTypeOrSelf(op->getOperand(0)));
}

/// Whether the reduction sums over all dimensions but one and leaves `size`
/// numbers: of a matrix whose rows it sums where `keepsLast`, else whose
/// columns.
static bool sumsMatrix(ReduceOp op, bool keepsLast, int64_t size) {
  const int64_t rank = getShape(op.getOperand()).size();
  const int64_t kept = keepsLast ? rank - 1 : 0;
  auto others = llvm::make_filter_range(
      llvm::seq<int64_t>(0, rank), [&](int64_t dim) { return dim != kept; });
  return op.getKind() == ReduceKind::Sum && rank > 1 &&
         getShape(op.getResult()) == ArrayRef<int64_t>(size) &&
         llvm::equal(op.getDims(), others);
}

/// The reductions of `factor`, through reshapes and widening, that are its sums
/// over the inner dimension.
static void findSums(Value factor, bool keepsLast, ProductPart part,
                     SmallVectorImpl<FactorSum> &found) {
  ArrayRef<int64_t> shape = getShape(factor);
  SmallVector<Value> names = {skipReshapes(factor)};
  for (size_t i = 0; i != names.size(); ++i)
    for (Operation *reader : getReaders(names[i])) {
      if (isa<ReshapeOp>(reader) || widens(reader))
        names.push_back(reader->getResult(0));
      else if (auto reduce = dyn_cast<ReduceOp>(reader);
               reduce && sumsMatrix(reduce, keepsLast, shape[keepsLast]))
        found.push_back({reduce, part, factor});
    }
}

SmallVector<FactorSum> weft::findFactorSums(MatmulOp product) {
  SmallVector<FactorSum> found;
  if (getShape(product.getLhs()).size() != 2 ||
      getShape(product.getRhs()).size() != 2)
    return found;
  findSums(product.getLhs(), product.getTransposeLhs(), ProductPart::LhsSum,
           found);
  findSums(product.getRhs(), !product.getTransposeRhs(), ProductPart::RhsSum,
           found);
  return found;
}

bool weft::readsSharedCopy(FactorSum sum) {
  Value value = sum.op.getOperand();
  bool isShared = false;
  while (isa_and_nonnull<ReshapeOp, CastOp>(value.getDefiningOp())) {
    isShared |= !value.hasOneUse();
    if (value.getDefiningOp<CastOp>())
      return isShared;
    value = value.getDefiningOp()->getOperand(0);
  }
  return false;
}

bool weft::isGenerated(Value value, const KernelLibrary &library) {
  SmallVector<Value> pieces = {value};
  for (size_t i = 0; i != pieces.size(); ++i) {
    Operation *op = pieces[i].getDefiningOp();
    if (!op)
      continue;
    if (isa<BroadcastOp>(op) ||
        (!isViewOp(op) && canGenerate(op) && !library.find(op).runs()))
      return true;
    if (isViewOp(op) || isa<ConcatOp, PadOp>(op))
      llvm::append_range(pieces, op->getOperands());
  }
  return false;
}

SmallVector<Operation *> weft::findEarlyReaders(ValueRange values,
                                                Operation *place) {
  SmallVector<Operation *> early;
  SmallVector<Value> read(values);
  for (size_t i = 0; i != read.size(); ++i)
    for (Operation *reader : getReaders(read[i]))
      if (reader->isBeforeInBlock(place) &&
          !llvm::is_contained(early, reader)) {
        early.push_back(reader);
        llvm::append_range(read, reader->getResults());
      }
  llvm::sort(early, [](Operation *a, Operation *b) {
    return a != b && a->isBeforeInBlock(b);
  });
  return early;
}

void weft::sinkReaders(Operation *op) {
  Operation *last = op;
  for (Operation *reader : findEarlyReaders(op->getResults(), op)) {
    reader->moveAfter(last);
    last = reader;
  }
}
