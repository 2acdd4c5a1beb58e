//===- KernelPicks.cpp - One element of a row -----------------------------===//
//
// A total of `number == index ? x : nothing`, as the logit of a row's target,
// is that element of the row: it is read where it lies, not looked for in each
// lane.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft;

/// Ops between memory and the element, at most.
static constexpr int kLongestPick = 4;

/// The choice of an element that a total adds to nothing.
static arith::SelectOp getChoice(const NestTotal &total) {
  auto choice =
      total.combiner
          ? total.combiner->getOperand(1).getDefiningOp<arith::SelectOp>()
          : nullptr;
  TypedAttr otherwise;
  if (!choice ||
      !matchPattern(choice.getFalseValue(), m_Constant(&otherwise)) ||
      otherwise != total.start)
    return nullptr;
  return choice;
}

/// The number in `number == index of a lane`, or null.
Value KernelEmitter::getPickedIndex(const KernelNest &nest,
                                    const NestTotal &total) {
  arith::SelectOp choice = getChoice(total);
  auto equal =
      choice ? choice.getCondition().getDefiningOp<arith::CmpIOp>() : nullptr;
  if (!equal || equal.getPredicate() != arith::CmpIPredicate::eq)
    return nullptr;
  auto isIndex = [&](Value value) {
    Operation *op = value.getDefiningOp();
    std::optional<unsigned> dim = op ? nest.getIndexDim(op) : std::nullopt;
    return dim && shape.getRole(*dim) == DimRole::Lane;
  };
  auto isNumber = [&](Value value) {
    return nest.depths.lookup(value) != ValueDepth::Lane;
  };
  Value x = equal.getLhs(), y = equal.getRhs();
  if (isIndex(y))
    std::swap(x, y);
  return isIndex(x) && isNumber(y) ? y : Value();
}

/// Whether a value of a lane is made of memory by a few ops.
static bool isNearMemory(const KernelNest &nest, Value value, int most) {
  Operation *op = value.getDefiningOp();
  if (!op || nest.depths.lookup(value) != ValueDepth::Lane)
    return true;
  return most != 0 && !isa<DrawOp>(op) && !nest.getIndexDim(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isNearMemory(nest, operand, most - 1);
         });
}

/// Finds the totals of a row that are an element of it.
void KernelEmitter::findPicks(const KernelNest &nest) {
  if (nest.level != NestLevel::Full || shape.getKind() != KernelKind::Rows ||
      shape.getCount(DimRole::Inner) != 1)
    return;
  for (const NestTotal &total : nest.totals)
    if (getPickedIndex(nest, total) &&
        isNearMemory(nest, getChoice(total).getTrueValue(), kLongestPick))
      picks.insert(total.combiner);
}

/// The value of the lane at the current index alone.
Value KernelEmitter::getElement(const KernelNest &nest, Value value) {
  if (value.getDefiningOp<arith::ConstantOp>() ||
      nest.depths.lookup(value) != ValueDepth::Lane)
    return getScalar(nest, value, /*lanes=*/false);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return loadElement(nest.inputs[argument.getArgNumber()]);
  IRMapping mapping;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    mapping.map(operand, getElement(nest, operand));
  return b.clone(*op, mapping)->getResult(0);
}

/// The total of a pick: nothing where no lane has the index.
Value KernelEmitter::emitPick(const KernelNest &nest, const NestTotal &total) {
  Value index = getScalar(nest, getPickedIndex(nest, total), /*lanes=*/false);
  if (!index.getType().isInteger(64))
    index = arith::ExtSIOp::create(b, loc, b.getI64Type(), index);
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index,
                                       constant(shape.getLaneSize()));
  indices.back() = arith::SelectOp::create(b, loc, exists, index, constant(0));
  Value element = getElement(nest, getChoice(total).getTrueValue());
  indices.back() = nullptr;
  Value nothing = arith::ConstantOp::create(b, loc, total.start);
  return arith::SelectOp::create(b, loc, exists,
                                 total.combine(b, nothing, element), nothing);
}
