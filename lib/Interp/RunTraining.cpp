//===- RunTraining.cpp - Gradients and optimizers -------------------------===//

#include "OpFunctions.h"

#include <cmath>

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

static LogicalResult evaluateAccumulate(OpCall &call) {
  bool restart = call.operand(2).at(0) == 0;
  for (int64_t i = 0; i < call.result().size(); ++i)
    call.result().at(i) = restart
                              ? call.operand(1).at(i)
                              : call.operand(0).at(i) + call.operand(1).at(i);
  return success();
}

static LogicalResult evaluateNormAndCheck(OpCall &call) {
  double p = call.as<NormAndCheckOp>().getP().convertToDouble();
  double norm = 0;
  bool allFinite = true;
  for (const Tensor *grad : call.operands)
    for (double element : grad->floatValues()) {
      double magnitude = std::fabs(element);
      allFinite &= std::isfinite(element);
      if (!std::isinf(p))
        norm += std::pow(magnitude, p);
      else if (!(norm >= magnitude) && !std::isnan(norm)) // NaN sticks
        norm = magnitude;
    }
  bool hasRoot = !std::isinf(p) && !call.as<NormAndCheckOp>().getPowers();
  call.result(0).at(0) = hasRoot ? std::pow(norm, 1 / p) : norm;
  call.result(1).intAt(0) = !allFinite;
  return success();
}

static LogicalResult evaluateClipCoefficient(OpCall &call) {
  double norm = call.operand(0).at(0), maxNorm = call.operand(1).at(0);
  // A norm that is not finite is left to the check that skips the update.
  bool clips = maxNorm != 0 && std::isfinite(norm);
  double clip = clips ? std::fmin(1, maxNorm / (norm + 1e-6)) : 1;
  bool rounds = call.interpreter.getMode() == ComputeMode::F32;
  auto round = [&](double x) {
    return rounds ? roundTo(ElementKind::F32, x) : x;
  };
  if (call.as<ClipCoefficientOp>().getScale())
    clip = round(clip) * round(1 / call.operand(2).at(0));
  call.result().at(0) = clip;
  return success();
}

/// Operands: norms, skips, and the scale if there is one.
static LogicalResult evaluateTotalNorm(OpCall &call) {
  auto op = call.as<TotalNormOp>();
  double p = op.getP().convertToDouble(), total = 0;
  unsigned count = op.getNorms().size();
  auto skips = [&](unsigned i) { return call.operand(count + i).intAt(0); };
  bool skipsAll = true;
  for (unsigned i = 0; i < count; ++i)
    skipsAll &= bool(skips(i));
  for (unsigned i = 0; i < count; ++i) {
    if (skips(i) && !skipsAll)
      continue;
    double norm = call.operand(i).at(0);
    if (!std::isinf(p))
      total += op.getPowers() ? norm : std::pow(norm, p);
    else if (!(total >= norm) && !std::isnan(total)) // NaN sticks
      total = norm;
  }
  if (!std::isinf(p))
    total = std::pow(total, 1 / p);
  double scale = op.getScale() ? call.operand(2 * count).at(0) : 1;
  call.result().at(0) = total / scale;
  return success();
}

static LogicalResult evaluateStepIncrement(OpCall &call) {
  bool skip = call.operand(1).intAt(0);
  call.result().intAt(0) = call.operand(0).intAt(0) + (skip ? 0 : 1);
  return success();
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

namespace {
/// Attributes of an update.
struct UpdateNumbers {
  bool isDecoupled, nesterov, hasWorking;
  SmallVector<UpdateFactors> factors;
};

/// Learning rate and decay of each element, in order.
class RateWalk {
public:
  RateWalk(const UpdateNumbers &update, double lr, double decay)
      : ranges(update.factors), baseLr(lr), baseDecay(decay) {}

  void moveTo(int64_t element) {
    while (next != ranges.size() && ranges[next].begin <= element) {
      const UpdateFactors &range = ranges[next++];
      lr = baseLr * range.lrScale;
      decay = range.weightDecay.value_or(baseDecay) * range.decayScale;
    }
  }

  double lr = 0, decay = 0;

private:
  ArrayRef<UpdateFactors> ranges;
  size_t next = 0;
  double baseLr, baseDecay;
};
} // namespace

static UpdateNumbers getNumbers(OptimizerOpInterface op) {
  return {op.getOptimizer().isDecoupled,
          /*nesterov=*/false, op.getWorking() != Value(), getUpdateFactors(op)};
}

/// The working copy, if there is one. It is rounded from the new parameter as
/// that is stored.
static void copyWorking(OpCall &call, const UpdateNumbers &numbers) {
  if (!numbers.hasWorking)
    return;
  Tensor &param = call.result(0);
  if (call.interpreter.getMode() == ComputeMode::F32)
    param.roundElements();
  call.results.back().floatValues() = param.floatValues();
}

/// Operands: param, exp_avg, exp_avg_sq, grad, coef, skip, step, lr,
/// weight_decay, beta1, beta2, eps.
static void updateAdam(OpCall &call, const UpdateNumbers &update) {
  const bool isDecoupled = update.isDecoupled;
  auto number = [&](unsigned i) { return call.operand(i).value(0); };
  bool skip = number(5);
  double coef = number(4), step = number(6), eps = number(11);
  RateWalk rates(update, /*lr=*/number(7), /*decay=*/number(8));
  double beta1 = number(9), beta2 = number(10);
  double correction1 = 1 - std::pow(beta1, step);
  double correction2 = 1 - std::pow(beta2, step);
  for (int64_t i = 0; i < call.operand(0).size(); ++i) {
    double p = call.operand(0).at(i), m = call.operand(1).at(i);
    double v = call.operand(2).at(i);
    rates.moveTo(i);
    const double lr = rates.lr, decay = rates.decay;
    if (!skip) {
      double g = call.operand(3).at(i) * coef + (isDecoupled ? 0 : decay * p);
      p *= isDecoupled ? 1 - lr * decay : 1;
      m += (1 - beta1) * (g - m);
      v = beta2 * v + (1 - beta2) * g * g;
      p -= lr / correction1 * m / (std::sqrt(v) / std::sqrt(correction2) + eps);
    }
    call.result(0).at(i) = p;
    call.result(1).at(i) = m;
    call.result(2).at(i) = v;
  }
  copyWorking(call, update);
}

/// Operands: param, momentum_buffer, grad, coef, skip, step, lr, weight_decay,
/// momentum.
static void updateSgd(OpCall &call, const UpdateNumbers &update) {
  auto number = [&](unsigned i) { return call.operand(i).value(0); };
  bool skip = number(4), isFirst = number(5) == 1;
  double coef = number(3), momentum = number(8);
  RateWalk rates(update, /*lr=*/number(6), /*decay=*/number(7));
  for (int64_t i = 0; i < call.operand(0).size(); ++i) {
    double p = call.operand(0).at(i), buffer = call.operand(1).at(i);
    rates.moveTo(i);
    const double lr = rates.lr;
    if (!skip) {
      double g = call.operand(2).at(i) * coef + rates.decay * p;
      buffer = isFirst ? g : momentum * buffer + g;
      p -= lr * (update.nesterov ? g + momentum * buffer : buffer);
    }
    call.result(0).at(i) = p;
    call.result(1).at(i) = buffer;
  }
  copyWorking(call, update);
}

static LogicalResult evaluateAdam(OpCall &call) {
  updateAdam(call, getNumbers(call.as<OptimizerOpInterface>()));
  return success();
}

static LogicalResult evaluateSgd(OpCall &call) {
  UpdateNumbers numbers = getNumbers(call.as<OptimizerOpInterface>());
  numbers.nesterov = call.as<SgdOp>().getNesterov();
  return updateSgd(call, numbers), success();
}

void weft::addTrainingOps(MLIRContext *context) {
  interpretAs<AccumulateOp>(context, evaluateAccumulate);
  interpretAs<NormAndCheckOp>(context, evaluateNormAndCheck);
  interpretAs<TotalNormOp>(context, evaluateTotalNorm);
  interpretAs<ClipCoefficientOp>(context, evaluateClipCoefficient);
  interpretAs<StepIncrementOp>(context, evaluateStepIncrement);
  interpretAs<AdamWOp, AdamOp>(context, evaluateAdam);
  interpretAs<SgdOp>(context, evaluateSgd);
}
