//===- DecomposeLosses.cpp - Cross-entropy and accuracy -------------------===//

#include "LossFormulas.h"
#include "weft/Fusion/Passes.h"

using namespace mlir;
using namespace weft;

namespace {

/// Base of the formulas of the loss and of its adjoint.
template <typename OpT> class CrossEntropyFormula : public TargetFormula<OpT> {
public:
  CrossEntropyFormula(OpT op, OpBuilder &builder, bool wide)
      : TargetFormula<OpT>(op, builder, wide),
        smoothing(op.getLabelSmoothing().convertToDouble()) {}

protected:
  /// The weight of the row's target.
  Value targetWeight(Value isTarget) {
    return this->sumRow(
        this->f.select(isTarget, this->op.getWeight(), this->zero()));
  }

  const double smoothing;
};

//===----------------------------------------------------------------------===//
// The loss
//===----------------------------------------------------------------------===//

/// With d = x - max, L = ln sum e^d, weights w and smoothing e, a row of target
/// t loses (1 - e) w[t] (L - d[t]) + e / V (L sum w - sum w d).
class LossFormula : public CrossEntropyFormula<CrossEntropyOp> {
public:
  LossFormula(CrossEntropyOp op, OpBuilder &builder)
      : CrossEntropyFormula(op, builder, /*wide=*/false) {}

  SmallVector<Value> build() {
    Value max = f.reduce(ReduceKind::Max, x, getAxis());
    Value hits = isTarget();
    Value logit = targetLogit(hits);
    Value weight = op.getWeight() ? targetWeight(hits) : Value();
    Value d = f.sub(x, max);
    Value log = f.unary<LogOp>(sumRow(f.unary<ExpOp>(d)));
    Value lse = f.add(max, log);
    Value loss = f.sub(log, f.sub(logit, max));
    if (weight)
      loss = f.mul(loss, weight);
    if (smoothing != 0.0)
      loss = f.add(f.mul(loss, f.constant(1.0 - smoothing, x)), spread(d, log));
    auto [total, denominator] = reduceCounted(loss, weight);
    return {f.finish(total, op.getLoss().getType()),
            f.finish(lse, op.getLse().getType()),
            f.finish(denominator, op.getDenom().getType())};
  }

private:
  /// The term that smoothing spreads over all classes.
  Value spread(Value d, Value log) {
    double share = smoothing / static_cast<double>(shape.back());
    Value count = f.constant(static_cast<double>(shape.back()), x), sum;
    if (Value weight = op.getWeight()) {
      count = f.reduce(ReduceKind::Sum, weight, 0);
      sum = sumRow(f.mul(d, weight));
    } else {
      sum = sumRow(d);
    }
    return f.mul(f.sub(f.mul(log, count), sum), f.constant(share, x));
  }
};

//===----------------------------------------------------------------------===//
// Its adjoint
//===----------------------------------------------------------------------===//

/// With p = e^(x - lse), g = grad / denom, weights w and smoothing e: in a row
/// of target t, g ((1 - e) w[t] (p - [class is t]) + e / V (p sum w - w)).
/// All of it has the shape of the logits, so that it is one kernel.
class LossGradFormula : public CrossEntropyFormula<CrossEntropyGradOp> {
public:
  LossGradFormula(CrossEntropyGradOp op, OpBuilder &builder)
      : CrossEntropyFormula(op, builder, /*wide=*/true) {}

  SmallVector<Value> build() {
    Value scale = f.div(f.broadcast(op.getGrad(), shape), op.getDenom());
    Value hits = isTarget();
    Value hard = scale;
    if (smoothing != 0.0)
      hard = f.mul(hard, f.constant(1.0 - smoothing, x));
    if (op.getWeight())
      hard = f.mul(targetWeight(hits), hard);
    hard = ofCounted(hard);
    Value p = probability(f.sub(x, f.reshape(op.getLse(), rows)));
    Value y = smoothing == 0.0 ? f.mul(p, hard) : smooth(p, scale, hard);
    y = f.sub(y, f.select(hits, hard, zero()));
    // Not a NaN either, where the row does not count.
    y = f.select(isCounted(), y, zero());
    return {f.finish(y, op.getType())};
  }

private:
  /// e^d, 0 where that is next to nothing: processors are slow with products
  /// of numbers as small as these.
  Value probability(Value d) {
    Value isNothing = f.compare(Predicate::LT, d, f.constant(-87.0, d));
    return f.select(isNothing, zero(), f.unary<ExpOp>(d));
  }
  Value smooth(Value p, Value scale, Value hard) {
    double share = smoothing / static_cast<double>(shape.back());
    Value soft = f.mul(scale, f.constant(share, x));
    Value count = f.constant(static_cast<double>(shape.back()), x);
    if (Value weight = op.getWeight())
      count = f.reduce(ReduceKind::Sum, weight, 0);
    Value y = f.mul(p, f.add(hard, f.mul(soft, count)));
    return f.sub(y, op.getWeight() ? f.mul(soft, op.getWeight()) : soft);
  }
};

//===----------------------------------------------------------------------===//
// Accuracy
//===----------------------------------------------------------------------===//

/// A row of target t is correct if each logit is below logit t, or equals it
/// and its class is not before t. No comparison with NaN is true.
class AccuracyFormula : public TargetFormula<AccuracyOp> {
public:
  AccuracyFormula(AccuracyOp op, OpBuilder &builder)
      : TargetFormula(op, builder, /*wide=*/false) {}

  SmallVector<Value> build() {
    Value logit = targetLogit(isTarget());
    Value isLater = compareClass(Predicate::GE);
    Value isEqual = f.compare(Predicate::EQ, x, logit);
    Value loses = f.logicalOr(f.compare(Predicate::LT, x, logit),
                              f.logicalAnd(isLater, isEqual));
    Value one = f.constant(1.0, x);
    Value correct =
        f.reduce(ReduceKind::Min, f.select(loses, one, zero()), getAxis());
    return {f.finish(reduceCounted(correct, /*weights=*/{}).first,
                     op.getAccuracy().getType())};
  }
};

} // namespace

static Values decomposeAccuracy(AccuracyOp op, FormulaBuilder &f) {
  return AccuracyFormula(op, f.getBuilder()).build();
}

static Values decomposeCrossEntropy(CrossEntropyOp op, FormulaBuilder &f) {
  return LossFormula(op, f.getBuilder()).build();
}

static Values decomposeCrossEntropyGrad(CrossEntropyGradOp op,
                                        FormulaBuilder &f) {
  return LossGradFormula(op, f.getBuilder()).build();
}

void weft::registerLossFormulas(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    addFormula<CrossEntropyOp, decomposeCrossEntropy>(context);
    addFormula<CrossEntropyGradOp, decomposeCrossEntropyGrad>(context);
    addFormula<AccuracyOp, decomposeAccuracy>(context);
  });
}
