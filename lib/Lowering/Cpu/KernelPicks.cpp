//===- KernelPicks.cpp - One element of a row -----------------------------===//
//
// A total of `number == index ? x : nothing`, as the logit of a row's target,
// is that element of the row: it is read where it lies, not looked for in each
// lane.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "weft/Lowering/Linalg/Picks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace weft;

/// Ops between memory and the element, at most.
static constexpr int kLongestPick = 4;

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
    if (getPickedIndex(shape, nest, total) &&
        isNearMemory(nest, getPickedElement(total), kLongestPick))
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
  Value index =
      getScalar(nest, getPickedIndex(shape, nest, total), /*lanes=*/false);
  if (!index.getType().isInteger(64))
    index = arith::ExtSIOp::create(b, loc, b.getI64Type(), index);
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, index,
                                       constant(shape.getLaneSize()));
  indices.back() = arith::SelectOp::create(b, loc, exists, index, constant(0));
  Value element = getElement(nest, getPickedElement(total));
  indices.back() = nullptr;
  Value nothing = arith::ConstantOp::create(b, loc, total.start);
  return arith::SelectOp::create(b, loc, exists,
                                 total.combine(b, nothing, element), nothing);
}
