//===- MarkApproximate.cpp - Functions of f16 and bf16 values -------------===//
//
// A value that was rounded to f16 or bf16 has a relative error of up to 2^-11
// or 2^-8, so exp and tanh of it need no result that is exact to an f32 place.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "weft/Fusion/Passes.h"
#include "weft/Weft/Precision.h"

namespace weft {
#define GEN_PASS_DEF_MARKAPPROXIMATEPASS
#include "weft/Fusion/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// The values from which the elements of a value are computed.
enum class Origin {
  Other,
  Constants,
  Rounded, // values of f16 or bf16 and constants
};

struct MarkApproximatePass
    : weft::impl::MarkApproximatePassBase<MarkApproximatePass> {
  void runOnOperation() override {
    origins.clear();
    getOperation().getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op->getNumResults() != 1)
        return;
      origins[op->getResult(0)] = findOrigin(op);
      if (auto exp = dyn_cast<ExpOp>(op))
        mark(exp);
      else if (auto tanh = dyn_cast<TanhOp>(op))
        mark(tanh);
    });
  }

  Origin getOrigin(Value value) const {
    if (isLowPrecision(getElementTypeOrSelf(value)))
      return Origin::Rounded;
    return origins.lookup(value);
  }
  Origin findOrigin(Operation *op) const;

  template <typename OpT> void mark(OpT op) {
    const bool isWide = getElementTypeOrSelf(op.getType()).isF64();
    if (isWide || op.getAfn() || getOrigin(op.getOperand()) != Origin::Rounded)
      return;
    op.setAfn(true);
    ++numMarked;
  }

  DenseMap<Value, Origin> origins;
};

} // namespace

/// Whether each element of the result is computed from, or is one of, elements
/// of the operands.
static bool isOfElements(Operation *op) {
  return isa<ScalarBodyOpInterface, ReduceOp>(op) || movesElements(op);
}

/// The worst of the origins of the operands. The condition of a select only
/// chooses between numbers.
Origin MarkApproximatePass::findOrigin(Operation *op) const {
  if (isa<ConstantOp>(op))
    return Origin::Constants;
  if (!isOfElements(op))
    return Origin::Other;
  Origin found = Origin::Constants;
  for (Value operand : op->getOperands().drop_front(isa<SelectOp>(op))) {
    const Origin origin = getOrigin(operand);
    if (origin == Origin::Other)
      return Origin::Other;
    found = std::max(found, origin);
  }
  return found;
}
