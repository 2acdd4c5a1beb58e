//===- DecomposeScaler.cpp - Formula of the loss scale's update -----------===//
//
// The policies of weft.scaler_update (growth, backoff), with a choice where
// they have a branch. Interp/RunScaler.cpp has the same rules.
//
//===----------------------------------------------------------------------===//

#include "weft/Fusion/Passes.h"
#include "weft/Weft/FormulaBuilder.h"

using namespace mlir;
using namespace weft;

namespace {

/// A reduced scale, and whether it could not be reduced.
struct Shrunk {
  Value scale, exhausted;
};

/// The scale and its state after a step.
struct NewScaler {
  Value scale, tracker, lastOverflow, hysteresis, exhausted;
};

class ScalerBuilder : public FormulaBuilder {
public:
  ScalerBuilder(const FormulaBuilder &base, ScalerUpdateOp op)
      : FormulaBuilder(base), rule(op.getScaler().getNumbers()),
        state(op.getState()), bad(op.getFoundInf()), scale(op.getScale()),
        tracker(field(0)), lastOverflow(field(1)), hysteresis(field(2)) {}

  SmallVector<Value> build();

private:
  NewScaler updateTorch();
  NewScaler updateColossalAI();
  NewScaler updateFused();
  NewScaler updateModulo();

  Value grow();
  Shrunk shrink();
  /// The scale and the end of a step: shrunk if `shrinks`, which is a bad step,
  /// grown if `grows`, which is a clean one.
  NewScaler change(Value shrinks, Value grows);

  Value field(int64_t index) {
    int64_t one = 1;
    return reshape(SliceOp::create(b, loc, state, index, one, one), {});
  }
  /// An unchanged field. It is copied because the new state has the buffer of
  /// the old one only if a kernel writes all of it.
  Value keep(Value field) { return MaterializeOp::create(b, loc, field); }
  Value next(Value count) { return add(count, integer(1)); }
  Value isClean() { return unary<NotOp>(bad); }
  Value isMultiple(Value count, int64_t of) {
    Value factor = integer(of);
    return compare(Predicate::EQ, mul(div(count, factor), factor), count);
  }

  const ScalerNumbers rule;
  Value state, bad, scale, tracker, lastOverflow, hysteresis;
};

} // namespace

//===----------------------------------------------------------------------===//
// The scale
//===----------------------------------------------------------------------===//

/// Products are taken in f64 and rounded once. A scale beyond f32 stays.
Value ScalerBuilder::grow() {
  Value wide = cast(scale, b.getF64Type());
  Value grown = cast(mul(wide, constant(rule.growth, wide)), b.getF32Type());
  return select(isFinite(grown), grown, scale);
}

/// A scale that may not shrink any more stays, and is reported.
Shrunk ScalerBuilder::shrink() {
  Value wide = cast(scale, b.getF64Type());
  Value minimum = constant(rule.minimum, wide);
  Value shrunk = cast(max(mul(wide, constant(rule.backoff, wide)), minimum),
                      b.getF32Type());
  Value isZero = compare(Predicate::EQ, shrunk, constant(0.0, shrunk));
  if (!(rule.minimum > 0.0))
    return {shrunk, isZero};
  Value atEnd = compare(Predicate::LE, wide, minimum);
  return {select(atEnd, scale, shrunk), logicalOr(atEnd, isZero)};
}

NewScaler ScalerBuilder::change(Value shrinks, Value grows) {
  Shrunk shrunk = shrink();
  NewScaler result = {};
  result.scale = select(shrinks, shrunk.scale, select(grows, grow(), scale));
  result.exhausted = logicalAnd(shrinks, shrunk.exhausted);
  return result;
}

//===----------------------------------------------------------------------===//
// Policies
//===----------------------------------------------------------------------===//

/// GradScaler: the tracker counts clean steps.
NewScaler ScalerBuilder::updateTorch() {
  Value count = next(tracker), zero = integer(0);
  Value isDue = compare(Predicate::GE, count, integer(rule.interval));
  NewScaler result = change(bad, logicalAnd(isClean(), isDue));
  result.tracker = select(logicalOr(bad, isDue), zero, count);
  result.lastOverflow = keep(lastOverflow);
  result.hysteresis = keep(hysteresis);
  return result;
}

/// ColossalAI's DynamicGradScaler
NewScaler ScalerBuilder::updateColossalAI() {
  Value count = next(tracker), zero = integer(0);
  Value isDue = compare(Predicate::GE, count, integer(rule.interval));
  Value grows = logicalAnd(isClean(), isDue);
  Value left = max(sub(hysteresis, integer(1)), zero);
  Value isLast = compare(Predicate::EQ, left, zero);
  NewScaler result = change(logicalAnd(bad, isLast), grows);
  result.tracker = select(logicalOr(bad, isDue), zero, count);
  result.lastOverflow = keep(lastOverflow);
  result.hysteresis =
      select(bad, left, select(grows, integer(rule.hysteresis), hysteresis));
  return result;
}

/// DeepSpeed's FP16_Optimizer
NewScaler ScalerBuilder::updateFused() {
  Value clean = sub(sub(tracker, lastOverflow), integer(1));
  Value isDue = logicalAnd(compare(Predicate::GT, clean, integer(0)),
                           isMultiple(clean, rule.interval));
  NewScaler result = change(bad, logicalAnd(isClean(), isDue));
  result.tracker = next(tracker);
  result.lastOverflow = select(bad, tracker, lastOverflow);
  result.hysteresis = keep(hysteresis);
  return result;
}

/// DeepSpeed's DynamicLossScaler; mmcv's LossScaler is hysteresis 1. That one
/// spares no overflow, whatever a loaded state has left.
NewScaler ScalerBuilder::updateModulo() {
  const bool isMmcv = rule.policy == ScalerPolicy::Mmcv;
  const int64_t most = isMmcv ? 1 : rule.hysteresis;
  Value full = integer(most);
  Value isDue = isMultiple(sub(tracker, lastOverflow), rule.interval);
  Value grows = logicalAnd(isClean(), isDue);
  Value isSpared, shrinks = bad, spent = hysteresis;
  if (most > 1) {
    isSpared = compare(Predicate::GT, hysteresis, integer(1));
    shrinks = logicalAnd(bad, unary<NotOp>(isSpared));
  }
  NewScaler result = change(shrinks, grows);
  if (most > 1)
    spent = select(isSpared, sub(hysteresis, integer(1)), hysteresis);
  Value refills = rule.consecutive ? isClean() : grows;
  result.tracker = next(tracker);
  result.lastOverflow = select(bad, tracker, lastOverflow);
  result.hysteresis = select(bad, spent, select(refills, full, hysteresis));
  return result;
}

SmallVector<Value> ScalerBuilder::build() {
  NewScaler result = {};
  switch (rule.policy) {
  case ScalerPolicy::Torch:
    result = updateTorch();
    break;
  case ScalerPolicy::ColossalAI:
    result = updateColossalAI();
    break;
  case ScalerPolicy::DeepSpeedFused:
    result = updateFused();
    break;
  case ScalerPolicy::DeepSpeed:
  case ScalerPolicy::Mmcv:
    result = updateModulo();
    break;
  }
  SmallVector<Value> fields;
  for (Value value : {result.tracker, result.lastOverflow, result.hysteresis})
    fields.push_back(reshape(value, {1}));
  Value newState = ConcatOp::create(b, loc, fields, /*dim=*/0);
  return SmallVector<Value>{result.scale, newState, result.exhausted};
}

static Values decomposeScaler(ScalerUpdateOp op, FormulaBuilder &f) {
  return ScalerBuilder(f, op).build();
}

void weft::registerScalerFormulas(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    addFormula<ScalerUpdateOp, decomposeScaler>(context);
  });
}
