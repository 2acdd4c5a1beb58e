//===- RunLosses.cpp - Losses and metrics ---------------------------------===//

#include "OpFunctions.h"

#include <cmath>

namespace weft {

//===----------------------------------------------------------------------===//
// Cross-entropy: logits [N,V], targets [N]
//===----------------------------------------------------------------------===//

static bool isMean(LossReduction reduction) {
  return reduction == LossReduction::Mean;
}

/// Shared by the op and its adjoint. With w the class weights (1 without) and e
/// the label smoothing, the loss of a counted row with target y is
///   -(1-e) w[y] logp[y] - (e/V) sum_c w[c] logp[c].
struct CrossEntropy {
  const Tensor &logits;
  const Tensor &targets;
  const Tensor *weights;
  int64_t ignored;
  double smoothing;
  bool mean;
  int64_t classes;

  template <typename OpT>
  CrossEntropy(OpT op, const Tensor &logits, const Tensor &targets,
               const Tensor *weights)
      : logits(logits), targets(targets), weights(weights),
        ignored(static_cast<int64_t>(op.getIgnoreIndex())),
        smoothing(op.getLabelSmoothing().convertToDouble()),
        mean(isMean(op.getReduction())),
        classes(logits.dim(logits.rank() - 1)) {}

  bool isClass(int64_t target) const { return target >= 0 && target < classes; }
  /// 0 for the weight of a target that is no class.
  double weight(int64_t c) const {
    return !weights ? 1 : isClass(c) ? weights->at(c) : 0;
  }
  bool counts(int64_t row) const { return targets.intAt(row) != ignored; }
  double logit(int64_t row, int64_t c) const {
    return logits.at(row * classes + c);
  }

  double logSumExp(int64_t row) const {
    double most = logit(row, 0), sum = 0;
    for (int64_t c = 1; c < classes; ++c)
      most = std::fmax(most, logit(row, c));
    for (int64_t c = 0; c < classes; ++c)
      sum += std::exp(logit(row, c) - most);
    return most + std::log(sum);
  }

  double rowLoss(int64_t row, double lse) const {
    int64_t y = targets.intAt(row);
    if (!isClass(y))
      return std::nan("");
    double loss = -(1 - smoothing) * weight(y) * (logit(row, y) - lse);
    if (smoothing > 0)
      for (int64_t c = 0; c < classes; ++c)
        loss -= smoothing / classes * weight(c) * (logit(row, c) - lse);
    return loss;
  }
};

static llvm::LogicalResult evaluateCrossEntropy(OpCall &call) {
  auto op = call.as<CrossEntropyOp>();
  CrossEntropy ce(op, call.operand(0), call.operand(1),
                  op.getWeight() ? &call.operand(2) : nullptr);
  double loss = 0, denom = 0;
  for (int64_t row = 0; row < ce.targets.size(); ++row) {
    double lse = ce.logSumExp(row);
    call.result(1).at(row) = lse;
    if (!ce.counts(row))
      continue;
    loss += ce.rowLoss(row, lse);
    denom += ce.weight(ce.targets.intAt(row));
  }
  // No row counts: 0 / 0 is NaN for the mean, as in PyTorch.
  call.result(0).at(0) = ce.mean ? loss / denom : loss;
  call.result(2).at(0) = ce.mean ? denom : 1;
  return llvm::success();
}

static llvm::LogicalResult evaluateCrossEntropyGrad(OpCall &call) {
  auto op = call.as<CrossEntropyGradOp>();
  CrossEntropy ce(op, call.operand(1), call.operand(2),
                  op.getWeight() ? &call.operand(5) : nullptr);
  double weightSum = 0;
  for (int64_t c = 0; c < ce.classes; ++c)
    weightSum += ce.weight(c);
  for (int64_t row = 0; row < ce.targets.size(); ++row) {
    if (!ce.counts(row))
      continue;
    int64_t y = ce.targets.intAt(row);
    double factor = call.operand(0).at(0) / call.operand(4).at(0);
    double hard =
        ce.isClass(y) ? (1 - ce.smoothing) * ce.weight(y) : std::nan("");
    double soft = ce.smoothing / ce.classes;
    for (int64_t c = 0; c < ce.classes; ++c) {
      double p = std::exp(ce.logit(row, c) - call.operand(3).at(row));
      call.result().at(row * ce.classes + c) =
          factor *
          (hard * (p - (c == y)) + soft * (p * weightSum - ce.weight(c)));
    }
  }
  return llvm::success();
}

//===----------------------------------------------------------------------===//
// Accuracy: logits [N,V], targets [N]
//===----------------------------------------------------------------------===//

/// Whether the row's target is the first class with the largest logit. False if
/// a logit is NaN.
static bool isCorrect(const Tensor &logits, int64_t row, int64_t target) {
  const int64_t classes = logits.dim(logits.rank() - 1);
  auto logit = [&](int64_t c) { return logits.at(row * classes + c); };
  for (int64_t c = 0; c < classes; ++c)
    if (!(logit(c) < logit(target) ||
          (c >= target && logit(c) == logit(target))))
      return false;
  return true;
}

static llvm::LogicalResult evaluateAccuracy(OpCall &call) {
  auto op = call.as<AccuracyOp>();
  const Tensor &logits = call.operand(0), &targets = call.operand(1);
  double correct = 0, count = 0;
  for (int64_t row = 0; row < targets.size(); ++row) {
    const int64_t target = targets.intAt(row);
    if (target == op.getIgnoredTarget())
      continue;
    count += 1;
    if (target < 0 || target >= op.getClassCount())
      correct = std::nan("");
    else
      correct += isCorrect(logits, row, target);
  }
  call.result().at(0) = isMean(op.getReduction()) ? correct / count : correct;
  return llvm::success();
}

//===----------------------------------------------------------------------===//
// Losses of pairs
//===----------------------------------------------------------------------===//

static double squaredError(double x, double target) {
  return (x - target) * (x - target);
}

static double binaryCrossEntropy(double p, double target) {
  auto limited = [](double x) { return x < -100 ? -100 : x; }; // keeps NaN
  return (target - 1) * limited(std::log1p(-p)) - target * limited(std::log(p));
}

static double binaryCrossEntropyOfLogit(double x, double target) {
  return (x < 0 ? 0 : x) - x * target + std::log1p(std::exp(-std::fabs(x)));
}

template <typename OpT, double (*Loss)(double, double)>
static llvm::LogicalResult evaluatePairLoss(OpCall &call) {
  const Tensor &x = call.operand(0), &target = call.operand(1);
  double sum = 0;
  for (int64_t i = 0; i < x.size(); ++i)
    sum += Loss(x.at(i), target.at(i));
  bool mean = isMean(call.as<OpT>().getReduction());
  call.result().at(0) = mean ? sum / x.size() : sum;
  return llvm::success();
}

void addLossOps(mlir::MLIRContext *context) {
  interpretAs<CrossEntropyOp>(context, evaluateCrossEntropy);
  interpretAs<CrossEntropyGradOp>(context, evaluateCrossEntropyGrad);
  interpretAs<AccuracyOp>(context, evaluateAccuracy);
  interpretAs<MseOp>(context, evaluatePairLoss<MseOp, squaredError>);
  interpretAs<BceOp>(context, evaluatePairLoss<BceOp, binaryCrossEntropy>);
  interpretAs<BceWithLogitsOp>(
      context, evaluatePairLoss<BceWithLogitsOp, binaryCrossEntropyOfLogit>);
}

} // namespace weft
