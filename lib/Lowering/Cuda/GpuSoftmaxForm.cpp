//===- GpuSoftmaxForm.cpp - Finds rows with a sum of exponentials ---------===//
//
// Finds the two nests of a kernel whose totals GpuSoftmax.cpp computes in one
// pass: the maximum of a row, and the sum of e^(x - max) of the same elements.
//
//===----------------------------------------------------------------------===//

#include "GpuEmitter.h"
#include "weft/Lowering/Linalg/Picks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace weft;

/// The buffer of a nest's input, or null.
static Value getBase(const KernelNest &nest, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getArgNumber() < nest.inputs.size()
             ? nest.inputs[argument.getArgNumber()].base
             : Value();
}

/// Whether two nests compute the same value.
static bool isSameValue(const KernelNest &x, Value inX, const KernelNest &y,
                        Value inY) {
  SmallVector<std::pair<Value, Value>> work = {{inX, inY}};
  llvm::DenseSet<std::pair<Value, Value>> visited;
  while (!work.empty()) {
    auto [a, b] = work.pop_back_val();
    if (!visited.insert({a, b}).second)
      continue;
    Operation *opA = a.getDefiningOp(), *opB = b.getDefiningOp();
    if (!opA || !opB) {
      Value base = getBase(x, a);
      if (opA || opB || !base || base != getBase(y, b) ||
          !(x.inputs[cast<BlockArgument>(a).getArgNumber()].access ==
            y.inputs[cast<BlockArgument>(b).getArgNumber()].access))
        return false;
      continue;
    }
    if (opA->getName() != opB->getName() ||
        opA->getAttrDictionary() != opB->getAttrDictionary() ||
        a.getType() != b.getType())
      return false;
    for (auto [operandA, operandB] :
         llvm::zip(opA->getOperands(), opB->getOperands()))
      work.push_back({operandA, operandB});
  }
  return true;
}

arith::SubFOp weft::getExponent(const KernelNest &nest, Operation *op) {
  auto exp = dyn_cast_or_null<math::ExpOp>(op);
  auto sub =
      exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  if (!sub || !sub.getType().isF32() ||
      nest.depths.lookup(sub.getLhs()) != ValueDepth::Lane ||
      nest.depths.lookup(sub.getRhs()) != ValueDepth::Outer)
    return nullptr;
  return sub;
}

bool weft::isLowExponent(arith::SubFOp exponent) {
  auto wide = exponent.getLhs().getDefiningOp<arith::ExtFOp>();
  return wide && wide.getIn().getType().isF16();
}

/// Whether the nest has totals alone.
static bool hasTotalsOnly(const KernelNest &nest) {
  return nest.level == NestLevel::Full &&
         llvm::all_of(nest.totals, [](const NestTotal &total) {
           return total.combiner != nullptr;
         });
}

/// The number of the maximum among the totals of the nest, if all others are
/// elements at an index of the row.
std::optional<unsigned> GpuEmitter::findMaximum(const KernelNest &nest) const {
  std::optional<unsigned> found;
  for (auto [i, total] : llvm::enumerate(nest.totals)) {
    if (getPickedIndex(shape, nest, total))
      continue;
    if (found || !isa<arith::MaximumFOp>(total.combiner) ||
        !total.getSumType().isF32())
      return std::nullopt;
    found = i;
  }
  return found;
}

/// Whether each result of the nest is an element of a row in memory.
bool GpuEmitter::writesElementsOnly(const KernelNest &nest) const {
  for (auto [total, output] : llvm::zip_equal(nest.totals, nest.outputs))
    if (total.combiner || !isa<BlockArgument>(output.base) ||
        !isPerLane(output))
      return false;
  return true;
}

/// Finds the nests whose totals one pass computes.
void GpuEmitter::findSoftmax() {
  if (shape.getKind() != KernelKind::Rows || !isLongRow() ||
      shape.getCount(DimRole::Inner) != 1)
    return;
  for (const KernelNest &sum : kernel.getNests()) {
    if (!hasTotalsOnly(sum) || sum.totals.size() != 1 ||
        !isa<arith::AddFOp>(sum.totals[0].combiner))
      continue;
    arith::SubFOp exponent =
        getExponent(sum, sum.totals[0].getElement().getDefiningOp());
    if (!exponent)
      continue;
    for (const KernelNest &maximum : kernel.getNests()) {
      if (&maximum == &sum)
        break;
      std::optional<unsigned> total;
      if (hasTotalsOnly(maximum))
        total = findMaximum(maximum);
      if (total &&
          getBase(sum, exponent.getRhs()) == maximum.outputs[*total].base &&
          isSameValue(maximum, maximum.totals[*total].getElement(), sum,
                      exponent.getLhs()))
        softmax = {&maximum, &sum, *total, isLowExponent(exponent)};
    }
  }
  for (const KernelNest &nest : kernel.getNests())
    if (&nest != softmax.maximum && &nest != softmax.sum &&
        nest.level == NestLevel::Full && !writesElementsOnly(nest))
      softmax = {};
}
