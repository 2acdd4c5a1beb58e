//===- Picks.cpp - Elements at an index of a row --------------------------===//

#include "weft/Lowering/Linalg/Picks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft;

/// The choice of an element that a total adds to nothing.
static arith::SelectOp getChoice(const NestTotal &total) {
  auto choice = total.combiner
                    ? total.getElement().getDefiningOp<arith::SelectOp>()
                    : nullptr;
  TypedAttr otherwise;
  if (!choice ||
      !matchPattern(choice.getFalseValue(), m_Constant(&otherwise)) ||
      otherwise != total.start)
    return nullptr;
  return choice;
}

Value weft::getComparedNumber(const KernelShape &shape, const KernelNest &nest,
                              Operation *op) {
  auto equal = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!equal || equal.getPredicate() != arith::CmpIPredicate::eq)
    return nullptr;
  auto isIndex = [&](Value value) {
    Operation *source = value.getDefiningOp();
    std::optional<unsigned> dim =
        source ? nest.getIndexDim(source) : std::nullopt;
    return dim && shape.getRole(*dim) == DimRole::Lane;
  };
  Value x = equal.getLhs(), y = equal.getRhs();
  if (isIndex(y))
    std::swap(x, y);
  bool isNumber = nest.depths.lookup(y) != ValueDepth::Lane;
  return isIndex(x) && isNumber ? y : Value();
}

Value weft::getPickedIndex(const KernelShape &shape, const KernelNest &nest,
                           const NestTotal &total) {
  arith::SelectOp choice = getChoice(total);
  return choice ? getComparedNumber(shape, nest,
                                    choice.getCondition().getDefiningOp())
                : Value();
}

Value weft::getPickedElement(const NestTotal &total) {
  return getChoice(total).getTrueValue();
}
