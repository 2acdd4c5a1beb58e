//===- TrainingCommands.cpp - Commands of the end of a step ---------------===//

#include "ProgramLowering.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft {

void ProgramLowering::lowerNormAndCheck(NormAndCheckOp op) {
  SmallVector<Value> grads;
  for (Value grad : op.getGrads())
    grads.push_back(getDense(grad));
  Value norm = getDestination(cast<OpResult>(op.getNorm()));
  Value found = getDestination(cast<OpResult>(op.getFoundInf()));
  emit<plan::NormAndCheckOp>(grads, norm, found, op.getPAttr());
}

void ProgramLowering::lowerTotalNorm(TotalNormOp op) {
  SmallVector<Value> norms, skips;
  for (Value norm : op.getNorms())
    norms.push_back(getDense(norm));
  for (Value skip : op.getSkips())
    skips.push_back(getDense(skip));
  Value scale = op.getScale() ? getDense(op.getScale()) : Value();
  emit<plan::TotalNormOp>(norms, skips,
                          getDestination(cast<OpResult>(op.getResult())), scale,
                          op.getPAttr());
}

void ProgramLowering::lowerClipCoefficient(ClipCoefficientOp op) {
  Value norm = getDense(op.getNorm()), most = getDense(op.getMaxNorm());
  Value scale = op.getScale() ? getDense(op.getScale()) : Value();
  emit<plan::ClipCoefficientOp>(
      norm, most, getDestination(cast<OpResult>(op.getResult())), scale);
}

void ProgramLowering::lowerStepIncrement(StepIncrementOp op) {
  Value step = getDense(op.getStep()), skip = getDense(op.getSkip());
  emit<plan::StepIncrementOp>(step, skip,
                              getDestination(cast<OpResult>(op.getResult())));
}

static plan::ScalerPolicyAttr getPolicy(ScalerUpdateOp op) {
  auto get = [&](plan::ScalerPolicy policy) {
    return plan::ScalerPolicyAttr::get(op.getContext(), policy);
  };
  switch (op.getPolicy()) {
  case ScalerPolicy::Torch:
    return get(plan::ScalerPolicy::Torch);
  case ScalerPolicy::DeepSpeed:
    return get(plan::ScalerPolicy::DeepSpeed);
  case ScalerPolicy::Mmcv:
    return get(plan::ScalerPolicy::Mmcv);
  case ScalerPolicy::DeepSpeedFused:
    return get(plan::ScalerPolicy::DeepSpeedFused);
  case ScalerPolicy::ColossalAI:
    return get(plan::ScalerPolicy::ColossalAI);
  }
  llvm_unreachable("a policy without a command");
}

void ProgramLowering::lowerScalerUpdate(ScalerUpdateOp op) {
  SmallVector<Value> from, to;
  for (Value operand : op->getOperands())
    from.push_back(getDense(operand));
  for (OpResult result : op->getResults())
    to.push_back(getDestination(result));
  emit<plan::ScalerUpdateOp>(
      from[0], from[1], from[2], to[0], to[1], to[2], getPolicy(op),
      op.getGrowthAttr(), op.getBackoffAttr(), op.getIntervalAttr(),
      op.getHysteresisAttr(), op.getMinimumAttr(),
      op.getConsecutive() ? builder.getUnitAttr() : UnitAttr());
}

/// The command updates its first `numStates` buffers in place. A result that
/// does not lie in the bytes of its operand starts as a copy of it. A result
/// beyond the states is the working copy.
template <typename OpT>
void ProgramLowering::lowerOptimizer(OpT op, plan::UpdateRule rule,
                                     unsigned numStates, bool nesterov) {
  SmallVector<Value> states, reads;
  for (unsigned i = 0; i != numStates; ++i) {
    Value old = getDense(op->getOperand(i));
    Value target = getDestination(op->getResult(i));
    if (target != old) {
      copyTo(old, target);
      reportCopy("optimizer state that is read again or not written back");
    }
    states.push_back(target);
  }
  for (Value operand : op->getOperands().drop_front(numStates))
    reads.push_back(getDense(operand));
  Value working = op->getNumResults() > numStates
                      ? getDestination(op->getResult(numStates))
                      : Value();
  // Behind the states: gradient, coefficient, skip, step, the numbers.
  emit<plan::OptimizerOp>(
      states[0], ArrayRef(states).drop_front(), reads[0], reads[1], reads[2],
      reads[3], ArrayRef(reads).drop_front(4), working,
      plan::UpdateRuleAttr::get(op.getContext(), rule), op.getLrScaleAttr(),
      op.getDecayScaleAttr(), nesterov ? builder.getUnitAttr() : UnitAttr());
}

LogicalResult ProgramLowering::lowerTrainingOp(Operation *op) {
  auto done = [](auto...) { return success(); };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](NormAndCheckOp o) { return lowerNormAndCheck(o), done(); })
      .Case([&](TotalNormOp o) { return lowerTotalNorm(o), done(); })
      .Case([&](ScalerUpdateOp o) { return lowerScalerUpdate(o), done(); })
      .Case(
          [&](ClipCoefficientOp o) { return lowerClipCoefficient(o), done(); })
      .Case([&](StepIncrementOp o) { return lowerStepIncrement(o), done(); })
      .Case([&](AdamWOp o) {
        return lowerOptimizer(o, plan::UpdateRule::AdamW, 3, false), done();
      })
      .Case([&](AdamOp o) {
        return lowerOptimizer(o, plan::UpdateRule::Adam, 3, false), done();
      })
      .Case([&](SgdOp o) {
        return lowerOptimizer(o, plan::UpdateRule::Sgd, 2, o.getNesterov()),
               done();
      })
      .Default([](Operation *o) {
        return o->emitOpError("has no command that runs it");
      });
}

} // namespace weft
