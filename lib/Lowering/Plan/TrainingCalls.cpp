//===- TrainingCalls.cpp - Argument lists of the end of a step ------------===//

#include "ProgramLowering.h"

using namespace mlir;

namespace weft {

static int64_t getCount(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

void ProgramLowering::lowerNormAndCheck(NormAndCheckOp op) {
  Call call;
  call.ints.push_back(op.getGrads().size());
  for (Value grad : op.getGrads()) {
    call.read(getDense(grad));
    call.ints.push_back(getCount(grad));
  }
  for (Value grad : op.getGrads())
    call.ints.push_back(getDType(grad));
  call.write(getDestination(cast<OpResult>(op.getNorm())));
  call.write(getDestination(cast<OpResult>(op.getFoundInf())));
  call.floats = {op.getP().convertToDouble()};
  emitCall(call);
}

void ProgramLowering::lowerTotalNorm(TotalNormOp op) {
  Call call;
  for (Value norm : op.getNorms())
    call.read(getDense(norm));
  for (Value skip : op.getSkips())
    call.read(getDense(skip));
  Value scale = op.getScale() ? getDense(op.getScale()) : Value();
  call.write(getDestination(cast<OpResult>(op.getResult())));
  if (scale)
    call.read(scale);
  call.ints = {static_cast<int64_t>(op.getNorms().size()), scale != Value()};
  call.floats = {op.getP().convertToDouble()};
  emitCall(call);
}

void ProgramLowering::lowerClipCoefficient(ClipCoefficientOp op) {
  Call call;
  call.read(getDense(op.getNorm()));
  call.read(getDense(op.getMaxNorm()));
  Value scale = op.getScale() ? getDense(op.getScale()) : Value();
  call.write(getDestination(cast<OpResult>(op.getResult())));
  if (scale)
    call.read(scale);
  emitCall(call);
}

void ProgramLowering::lowerStepIncrement(StepIncrementOp op) {
  Call call;
  call.read(getDense(op.getStep()));
  call.read(getDense(op.getSkip()));
  call.write(getDestination(cast<OpResult>(op.getResult())));
  emitCall(call);
}

/// The routine's number of a policy.
static int64_t getPolicyNumber(ScalerPolicy policy) {
  switch (policy) {
  case ScalerPolicy::Torch:
    return 0;
  case ScalerPolicy::DeepSpeed:
    return 1;
  case ScalerPolicy::Mmcv:
    return 2;
  case ScalerPolicy::DeepSpeedFused:
    return 3;
  case ScalerPolicy::ColossalAI:
    return 4;
  }
  llvm_unreachable("a policy without a number");
}

void ProgramLowering::lowerScalerUpdate(ScalerUpdateOp op) {
  Call call;
  for (Value operand : op->getOperands())
    call.read(getDense(operand));
  for (OpResult result : op->getResults())
    call.write(getDestination(result));
  call.ints = {getPolicyNumber(op.getPolicy()),
               static_cast<int64_t>(op.getInterval()),
               static_cast<int64_t>(op.getHysteresis()),
               static_cast<int64_t>(op.getConsecutive())};
  call.floats = {op.getGrowth().convertToDouble(),
                 op.getBackoff().convertToDouble(),
                 op.getMinimum().convertToDouble()};
  emitCall(call);
}

/// The routine updates its first `numStates` buffers in place. A result that
/// does not lie in the bytes of its operand starts as a copy of it. A result
/// beyond the states is the working copy.
void ProgramLowering::lowerOptimizer(Operation *op, unsigned numStates,
                                     ArrayRef<int64_t> flags, double lrScale,
                                     double decayScale) {
  Call call;
  for (unsigned i = 0; i != numStates; ++i) {
    Value old = getDense(op->getOperand(i));
    Value target = getDestination(op->getResult(i));
    if (target != old) {
      copyTo(old, target);
      reportCopy("optimizer state that is read again or not written back");
    }
    call.update(target);
  }
  for (Value operand : op->getOperands().drop_front(numStates))
    call.read(getDense(operand));
  bool hasWorking = op->getNumResults() > numStates;
  if (hasWorking)
    call.write(getDestination(op->getResult(numStates)));
  call.ints = {getCount(op->getOperand(0))};
  call.ints.append(flags.begin(), flags.end());
  call.ints.append({getDType(op->getOperand(0)),
                    getDType(op->getOperand(numStates)),
                    hasWorking ? getDType(op->getResult(numStates)) : -1});
  call.floats = {lrScale, decayScale};
  emitCall(call);
}

} // namespace weft
