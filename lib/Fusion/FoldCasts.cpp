//===- FoldCasts.cpp - Let routines widen and round themselves ------------===//

#include "weft/Fusion/Passes.h"
#include "weft/Weft/Precision.h"

namespace weft {
#define GEN_PASS_DEF_FOLDCASTSPASS
#include "weft/Fusion/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

static Type getElement(Value value) { return getElementTypeOrSelf(value); }

/// The f16 or bf16 value that `value` widens to f32, or null.
static Value findNarrow(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  if (!cast || !getElement(value).isF32() ||
      !isLowPrecision(getElement(cast.getOperand())))
    return Value();
  return cast.getOperand();
}

/// The low type that all readers of `result` round it to, or null.
static Type findRounding(Value result) {
  Type rounded;
  for (Operation *user : result.getUsers()) {
    auto cast = dyn_cast<CastOp>(user);
    if (!cast || (rounded && getElement(cast.getResult()) != rounded))
      return Type();
    rounded = getElement(cast.getResult());
  }
  return rounded && isLowPrecision(rounded) ? rounded : Type();
}

/// Gives the result of `op` the type that casts round it to; they are dead
/// then.
static void takeRounding(Operation *op, Type element) {
  Value result = op->getResult(0);
  result.setType(cast<RankedTensorType>(result.getType()).clone(element));
  for (Operation *user : llvm::to_vector(result.getUsers()))
    user->getResult(0).replaceAllUsesWith(result);
}

namespace {

struct FoldCastsPass : weft::impl::FoldCastsPassBase<FoldCastsPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>()) {
      Block &block = program.getBody().front();
      for (Operation &op : block)
        fold(&op);
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isa<CastOp>(op) && op.use_empty())
          op.erase();
    }
  }

  void fold(Operation *op) {
    if (auto loss = dyn_cast<CrossEntropyOp>(op))
      readNarrow(loss.getLogitsMutable());
    else if (auto gradient = dyn_cast<EmbeddingGradOp>(op))
      readNarrow(gradient.getGradMutable());
    else if (auto gradient = dyn_cast<CrossEntropyGradOp>(op))
      foldGradient(gradient);
    else if (auto product = dyn_cast<MatmulOp>(op))
      foldProduct(product);
  }

  void readNarrow(OpOperand &operand) {
    if (Value narrow = findNarrow(operand.get())) {
      operand.set(narrow);
      ++numWidened;
    }
  }

  /// Logits and their gradient have one type: both change or none does.
  void foldGradient(CrossEntropyGradOp op) {
    Value narrow = findNarrow(op.getLogits());
    if (!narrow || findRounding(op.getResult()) != getElement(narrow))
      return;
    readNarrow(op.getLogitsMutable());
    takeRounding(op, getElement(narrow));
    ++numRounded;
  }

  void foldProduct(MatmulOp op) {
    Type element = getElement(op.getLhs());
    if (!isLowPrecision(element) || !getElement(op.getResult()).isF32() ||
        findRounding(op.getResult()) != element)
      return;
    op.removeOutAttr();
    takeRounding(op, element);
    ++numRounded;
  }
};

} // namespace
