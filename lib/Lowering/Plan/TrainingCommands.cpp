//===- TrainingCommands.cpp - Commands of the end of a step ---------------===//

#include "ProgramLowering.h"

#include "weft/Analysis/Implementations.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft {

void ProgramLowering::lowerNormAndCheck(NormAndCheckOp op) {
  SmallVector<Value> grads;
  for (Value grad : op.getGrads())
    grads.push_back(getDense(grad));
  Value norm = getDestination(cast<OpResult>(op.getNorm()));
  Value found = getDestination(cast<OpResult>(op.getFoundInf()));
  emit<plan::NormAndCheckOp>(grads, norm, found, /*workspace=*/Value(),
                             op.getPAttr());
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

static plan::ScalerPolicyAttr getPolicy(MLIRContext *context,
                                        ScalerPolicy policy) {
  auto get = [&](plan::ScalerPolicy p) {
    return plan::ScalerPolicyAttr::get(context, p);
  };
  switch (policy) {
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
  const ScalerNumbers &numbers = op.getScaler().getNumbers();
  emit<plan::ScalerUpdateOp>(from[0], from[1], from[2], to[0], to[1], to[2],
                             getPolicy(op.getContext(), numbers.policy),
                             builder.getF64FloatAttr(numbers.growth),
                             builder.getF64FloatAttr(numbers.backoff),
                             builder.getI64IntegerAttr(numbers.interval),
                             builder.getI64IntegerAttr(numbers.hysteresis),
                             builder.getF64FloatAttr(numbers.minimum),
                             numbers.consecutive ? builder.getUnitAttr()
                                                 : UnitAttr());
}

/// The command updates parameter and states in place. A result that does not
/// lie in the bytes of its operand starts as a copy of it.
LogicalResult ProgramLowering::lowerOptimizer(OptimizerOpInterface op) {
  const OptimizerInfo &info = op.getOptimizer();
  std::optional<plan::UpdateRule> rule = plan::symbolizeUpdateRule(info.name);
  if (!rule || !op.getFactorList().empty())
    return reportNoLowering(op);
  SmallVector<Value> states, numbers;
  for (unsigned i = 0; i != info.states.size() + 1; ++i) {
    Value old = getDense(op->getOperand(i));
    Value target = getDestination(op->getResult(i));
    if (target != old) {
      copyTo(old, target);
      reportCopy("optimizer state that is read again or not written back");
    }
    states.push_back(target);
  }
  Value grad = getDense(op.getGrad()), coefficient = getDense(op.getCoef());
  Value skip = getDense(op.getSkip()), step = getDense(op.getStep());
  for (Value number : op.getNumbers())
    numbers.push_back(getDense(number));
  Value working = op.getWorking()
                      ? getDestination(cast<OpResult>(op.getWorking()))
                      : Value();
  emit<plan::OptimizerOp>(
      states[0], ArrayRef(states).drop_front(), grad, coefficient, skip, step,
      numbers, working, plan::UpdateRuleAttr::get(op.getContext(), *rule),
      builder.getF64FloatAttr(op.getLrScale().convertToDouble()),
      builder.getF64FloatAttr(op.getDecayScale().convertToDouble()),
      op->getAttrOfType<UnitAttr>("nesterov"));
  return success();
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
      .Case([&](OptimizerOpInterface o) { return lowerOptimizer(o); })
      .Case([&](CommandSourceOpInterface o) { return lowerSource(o); })
      .Default([](Operation *o) { return reportNoLowering(o); });
}

} // namespace weft
