//===- MergeLosses.cpp - A loss and its gradient in one pass over rows ----===//
//
// The gradient of a row needs the divisor of the mean, which depends on targets
// alone. It is computed first. The loss and the gradient of a row are then one
// kernel, in whose second pass the gradient takes the place of the logits.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "Head.h"
#include "LossFormulas.h"
#include "weft/Analysis/Implementations.h"
#include "weft/Fusion/Passes.h"

#include "mlir/IR/Remarks.h"

namespace weft {
#define GEN_PASS_DEF_MERGELOSSESPASS
#include "weft/Fusion/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {

/// With d = x - max, L = ln sum e^d and g = grad / denom, a row of target t
/// loses L - d[t]; its gradient is g (e^(x - max - L) - [class is t]).
class MergedLossFormula : public TargetFormula<CrossEntropyOp> {
public:
  MergedLossFormula(CrossEntropyOp op, CrossEntropyGradOp adjoint,
                    OpBuilder &builder)
      : TargetFormula(op, builder, /*wide=*/false), adjoint(adjoint) {}

  struct Results {
    Value loss, gradient;
  };

  Results build() {
    Value denominator, scale = adjoint.getGrad();
    if (op.getReduction() == LossReduction::Mean) {
      denominator = sumAll(f.select(isCounted(), f.constant(1.0, x), zero()));
      denominator = f.reshape(denominator, {});
      scale = f.div(scale, denominator);
    }
    Value max = f.reduce(ReduceKind::Max, x, getAxis());
    Value hits = isTarget();
    Value logit = targetLogit(hits);
    Value log = f.unary<LogOp>(sumRow(f.unary<ExpOp>(f.sub(x, max))));
    Value rowLoss = ofCounted(f.sub(log, f.sub(logit, max)));
    Value gradient = makeGradient(scale, hits, f.add(max, log));
    Value loss = f.reshape(sumAll(rowLoss), {});
    return {denominator ? f.div(loss, denominator) : loss, gradient};
  }

private:
  Value makeGradient(Value scale, Value hits, Value lse) {
    Value hard = ofCounted(scale);
    Value y = f.mul(f.unary<ExpOp>(f.sub(x, lse)), hard);
    y = f.sub(y, f.select(hits, hard, zero()));
    // Not a NaN either, where the row does not count.
    y = f.select(isCounted(), y, zero());
    return f.finish(y, adjoint.getType());
  }

  CrossEntropyGradOp adjoint;
};

struct MergeLossesPass : weft::impl::MergeLossesPassBase<MergeLossesPass> {
  void runOnOperation() override {
    for (auto loss : llvm::make_early_inc_range(
             getOperation().getBody().front().getOps<CrossEntropyOp>()))
      if (CrossEntropyGradOp adjoint = findAdjoint(loss))
        merge(loss, adjoint);
  }

  static CrossEntropyGradOp findAdjoint(CrossEntropyOp loss);
  void merge(CrossEntropyOp loss, CrossEntropyGradOp adjoint);
  void reportMissed(CrossEntropyOp loss, StringRef reason);
};

} // namespace

/// The only adjoint of the loss, or null.
CrossEntropyGradOp MergeLossesPass::findAdjoint(CrossEntropyOp loss) {
  CrossEntropyGradOp found;
  for (Operation *user : loss.getLse().getUsers()) {
    auto adjoint = dyn_cast<CrossEntropyGradOp>(user);
    if (!adjoint || found)
      return nullptr;
    found = adjoint;
  }
  return found;
}

/// Why one kernel does not compute both, or "".
static StringRef findObstacle(CrossEntropyOp loss, CrossEntropyGradOp adjoint) {
  if (loss.getWeight() || !loss.getLabelSmoothing().isZero())
    return "its classes have weights or smoothed labels";
  if (getElementTypeOrSelf(loss.getLogits()).isF64())
    return "its logits are f64";
  const bool isPair = adjoint.getLogits() == loss.getLogits() &&
                      adjoint.getTargets() == loss.getTargets() &&
                      adjoint.getDenom() == loss.getDenom() &&
                      loss.getDenom().hasOneUse() && !adjoint.getWeight() &&
                      adjoint.getLabelSmoothing().isZero() &&
                      adjoint.getIgnoreIndex() == loss.getIgnoreIndex();
  return isPair ? "" : "its gradient has other operands";
}

void MergeLossesPass::reportMissed(CrossEntropyOp loss, StringRef reason) {
  ++numMissed;
  remark::missed(loss.getLoc(),
                 remark::RemarkOpts::name("loss").category("fusion"))
      << ("cross_entropy is not merged with its gradient: " + reason).str();
}

void MergeLossesPass::merge(CrossEntropyOp loss, CrossEntropyGradOp adjoint) {
  if (StringRef reason = findObstacle(loss, adjoint); !reason.empty())
    return reportMissed(loss, reason);
  FailureOr<SmallVector<Operation *>> scale =
      findOpsBehind(loss, adjoint.getGrad());
  if (failed(scale))
    return reportMissed(loss,
                        "the gradient of the loss is not known before it");
  for (Operation *op : *scale)
    op->moveBefore(loss);
  OpBuilder builder(loss);
  Operation *before = loss->getPrevNode();
  loss->setAttr(WeftDialect::kFormulaAttr,
                builder.getStringAttr("cross_entropy"));
  auto [value, gradient] = MergedLossFormula(loss, adjoint, builder).build();
  Operation *made = before ? before->getNextNode() : &loss->getBlock()->front();
  for (; made != loss; made = made->getNextNode())
    copyOrigin(loss, made);
  loss.getLoss().replaceAllUsesWith(value);
  adjoint.getResult().replaceAllUsesWith(gradient);
  adjoint.erase();
  loss.erase();
  ++numMerged;
}
