//===- TrainingCommands.cpp - The end of a step ---------------------------===//

#include "Commands.h"

#include "weft/Interfaces/NumberRules.h"

using namespace mlir;
using namespace llvm;

namespace weft::plan {

template <typename OpT> static LogicalResult verifyOrder(OpT op) {
  double p = op.getP().convertToDouble();
  if (p > 0)
    return success();
  return op.emitOpError("expects p above 0, but got ") << p;
}

Access NormAndCheckOp::getAccess(unsigned index) {
  return index < getGrads().size() ? Access::Read : Access::Write;
}

LogicalResult NormAndCheckOp::verify() { return verifyOrder(*this); }

Access TotalNormOp::getAccess(unsigned index) {
  return index == getTargetMutable().getOperandNumber() ? Access::Write
                                                        : Access::Read;
}

LogicalResult TotalNormOp::verify() {
  if (getNorms().empty() || getNorms().size() != getSkips().size())
    return emitOpError("expects as many skips as norms and at least one, but "
                       "got ")
           << getSkips().size() << " and " << getNorms().size();
  return verifyOrder(*this);
}

Access ClipCoefficientOp::getAccess(unsigned index) {
  return index == 2 ? Access::Write : Access::Read;
}

Access StepIncrementOp::getAccess(unsigned index) {
  return index == 2 ? Access::Write : Access::Read;
}

SmallVector<unsigned> StepIncrementOp::getInPlaceOperands(unsigned) {
  return {0};
}

Access ScalerUpdateOp::getAccess(unsigned index) {
  return index >= 3 ? Access::Write : Access::Read;
}

/// The new scale over the old one, the new state over the old one.
SmallVector<unsigned> ScalerUpdateOp::getInPlaceOperands(unsigned index) {
  if (index == 3 || index == 4)
    return {index - 3};
  return {};
}

LogicalResult ScalerUpdateOp::verify() {
  for (Value state : {getState(), getNewState()})
    if (failed(verifyShape(*this, "state", state, 3)))
      return failure();
  ScalerRates rates = {stringifyScalerPolicy(getPolicy()),
                       getGrowth().convertToDouble(),
                       getBackoff().convertToDouble(),
                       static_cast<int64_t>(getInterval()),
                       static_cast<int64_t>(getHysteresis()),
                       getMinimum().convertToDouble(),
                       getConsecutive()};
  if (std::optional<ScalerProblem> problem = findProblem(rates))
    return emitOpError(problem->spell());
  return success();
}

//===----------------------------------------------------------------------===//
// OptimizerOp
//===----------------------------------------------------------------------===//

Access OptimizerOp::getAccess(unsigned index) {
  if (index <= getMoments().size())
    return Access::Update;
  bool isWorking =
      getWorking() && index + 1 == getOperation()->getNumOperands();
  return isWorking ? Access::Write : Access::Read;
}

LogicalResult OptimizerOp::verify() {
  bool isSgd = getRule() == UpdateRule::Sgd;
  size_t moments = isSgd ? 1 : 2, hyper = isSgd ? 3 : 5;
  if (getMoments().size() != moments || getHyper().size() != hyper)
    return emitOpError("expects ")
           << moments << " moments and " << hyper << " hyper-parameters for "
           << stringifyUpdateRule(getRule()) << ", but got "
           << getMoments().size() << " and " << getHyper().size();
  if (getNesterov() && !isSgd)
    return emitOpError("expects nesterov with sgd only, but got ")
           << stringifyUpdateRule(getRule());
  auto emit = [&] { return emitOpError(); };
  if (failed(verifyFinite(emit, "lr_scale", getLrScale().convertToDouble())) ||
      failed(
          verifyFinite(emit, "decay_scale", getDecayScale().convertToDouble())))
    return failure();
  ArrayRef<int64_t> shape = getType(getParam()).getShape();
  for (Value moment : getMoments())
    if (failed(verifyShape(*this, "moments", moment, shape)))
      return failure();
  if (getWorking() &&
      failed(verifyShape(*this, "working", getWorking(), shape)))
    return failure();
  return verifyShape(*this, "grad", getGrad(), shape);
}

} // namespace weft::plan
