//===- FoldCasts.cpp - Let routines widen and round themselves ------------===//

#include "weft/Fusion/Passes.h"
#include "weft/Weft/Precision.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace weft {
#define GEN_PASS_DEF_FOLDCASTSPASS
#include "weft/Fusion/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

/// The f16 or bf16 value that `value` widens to f32, or null.
static Value findNarrow(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  if (!cast || !getElementTypeOrSelf(value).isF32() ||
      !isLowPrecision(getElementTypeOrSelf(cast.getOperand())))
    return Value();
  return cast.getOperand();
}

/// The low type that all readers of `result` round it to, or null.
static Type findRounding(Value result) {
  Type rounded;
  for (Operation *user : result.getUsers()) {
    auto cast = dyn_cast<CastOp>(user);
    if (!cast || (rounded && getElementTypeOrSelf(cast.getResult()) != rounded))
      return Type();
    rounded = getElementTypeOrSelf(cast.getResult());
  }
  return rounded && isLowPrecision(rounded) ? rounded : Type();
}

/// Gives the result of `op` the type that casts round it to; they are dead
/// then.
static void takeRounding(Operation *op, Type element,
                         PatternRewriter &rewriter) {
  Value result = op->getResult(0);
  rewriter.modifyOpInPlace(op, [&] {
    result.setType(cast<RankedTensorType>(result.getType()).clone(element));
  });
  for (Operation *user : llvm::to_vector(result.getUsers()))
    rewriter.replaceAllUsesWith(user->getResult(0), result);
}

namespace {

/// A pattern whose matches a statistic counts.
template <typename OpT> struct CountedPattern : OpRewritePattern<OpT> {
  CountedPattern(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<OpT>(context), count(count) {}

  Pass::Statistic &count;
};

/// Lets an op read its first operand unwidened.
template <typename OpT> struct ReadNarrow : CountedPattern<OpT> {
  using CountedPattern<OpT>::CountedPattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    OpOperand &operand = op->getOpOperand(0);
    Value narrow = findNarrow(operand.get());
    if (!narrow)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { operand.set(narrow); });
    ++this->count;
    return success();
  }
};

/// Logits and their gradient have one type: both change or none does.
struct RoundGradient : CountedPattern<CrossEntropyGradOp> {
  using CountedPattern::CountedPattern;

  LogicalResult matchAndRewrite(CrossEntropyGradOp op,
                                PatternRewriter &rewriter) const override {
    Value narrow = findNarrow(op.getLogits());
    if (!narrow || findRounding(op.getResult()) != getElementTypeOrSelf(narrow))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getLogitsMutable().assign(narrow); });
    takeRounding(op, getElementTypeOrSelf(narrow), rewriter);
    ++count;
    return success();
  }
};

/// A product that adds in f32 rounds its sum to the type of its operands.
struct RoundProduct : CountedPattern<MatmulOp> {
  using CountedPattern::CountedPattern;

  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getLhs());
    if (!isLowPrecision(element) ||
        !getElementTypeOrSelf(op.getResult()).isF32() ||
        findRounding(op.getResult()) != element)
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.removeOutAttr(); });
    takeRounding(op, element, rewriter);
    ++count;
    return success();
  }
};

struct FoldCastsPass : weft::impl::FoldCastsPassBase<FoldCastsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReadNarrow<CrossEntropyOp>, ReadNarrow<EmbeddingGradOp>>(
        &getContext(), numWidened);
    patterns.add<RoundGradient, RoundProduct>(&getContext(), numRounded);
    FrozenRewritePatternSet frozen(std::move(patterns));
    for (auto program : getOperation().getOps<ProgramOp>()) {
      walkAndApplyPatterns(program, frozen);
      for (Operation &op :
           llvm::make_early_inc_range(llvm::reverse(program.getBody().front())))
        if (isa<CastOp>(op) && op.use_empty())
          op.erase();
    }
  }
};

} // namespace
