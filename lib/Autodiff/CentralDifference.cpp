//===- CentralDifference.cpp - Differences of one program -----------------===//
//
// The derivative along a direction is the five-point central difference
//   (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12 h,  error h^4 f'''''/30.
// With h = 1e-3 it is good to about 1e-12 in f64. Where a kink (relu, abs, max)
// lies within 2h, a smaller h is tried: a wrong gradient fits none.
//
//===----------------------------------------------------------------------===//

#include "CentralDifference.h"

#include "weft/Abi/Names.h"
#include "weft/Autodiff/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <cmath>

using namespace mlir;
using namespace weft;

namespace {

constexpr double kSteps[] = {1e-3, 1e-4, 1e-5};

/// Runs the forward program with one parameter moved.
class Loss {
public:
  Loss(ModuleOp module, const TensorMap &inputs)
      : interpreter(module), inputs(inputs) {}

  LogicalResult setStates(const TensorMap &states) {
    for (const auto &[name, value] : states)
      if (failed(interpreter.setState(name, value)))
        return failure();
    return success();
  }

  /// sum(loss * loss_seed) over the elements of the output `loss`.
  FailureOr<double> evaluate() {
    FailureOr<TensorMap> outputs = interpreter.run(names::kMicro, inputs);
    if (failed(outputs))
      return failure();
    const Tensor &result = outputs->at(names::kLoss),
                 &seed = inputs.at(names::kLossSeed);
    double sum = 0;
    for (int64_t i = 0; i < result.size(); ++i)
      sum += result.at(i) * seed.at(i);
    return sum;
  }

  /// The loss with parameter `name` at `value` + `distance` * `direction`.
  FailureOr<double> evaluateAt(const std::string &name, Tensor value,
                               ArrayRef<std::pair<int64_t, double>> direction,
                               double distance) {
    for (auto [index, weight] : direction)
      value.at(index) += distance * weight;
    if (failed(interpreter.setState(name, std::move(value))))
      return failure();
    return evaluate();
  }

private:
  Interpreter interpreter;
  const TensorMap &inputs;
};

/// A direction in the elements of one tensor: (index, weight).
using Direction = SmallVector<std::pair<int64_t, double>>;

FailureOr<double> difference(Loss &loss, const std::string &name,
                             const Tensor &value, const Direction &direction,
                             double h) {
  double f[4];
  const double at[] = {-2 * h, -h, h, 2 * h};
  for (int i = 0; i < 4; ++i) {
    FailureOr<double> result = loss.evaluateAt(name, value, direction, at[i]);
    if (failed(result))
      return failure();
    f[i] = *result;
  }
  return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * h);
}

/// The directions to compare in a tensor of `size` elements: all elements, or
/// some of them and a random combination of all.
SmallVector<Direction> chooseDirections(int64_t size, int64_t limit,
                                        std::mt19937_64 &random) {
  SmallVector<Direction> directions;
  if (limit == 0 || size <= limit) {
    for (int64_t i = 0; i < size; ++i)
      directions.push_back({{i, 1.0}});
    return directions;
  }
  for (int64_t i = 0; i < limit; ++i)
    directions.push_back({{static_cast<int64_t>(random() % size), 1.0}});
  Direction all;
  double length = std::sqrt(static_cast<double>(size));
  for (int64_t i = 0; i < size; ++i)
    all.emplace_back(i, (random() % 2 ? 1 : -1) / length);
  directions.push_back(std::move(all));
  return directions;
}

/// The difference closest to `exact` of those with each step, until one is
/// close enough: its distance.
FailureOr<double> smallestError(Loss &loss, const std::string &name,
                                const Tensor &value, const Direction &direction,
                                double exact, double tolerance) {
  double best = INFINITY;
  for (double h : kSteps) {
    FailureOr<double> measured = difference(loss, name, value, direction, h);
    if (failed(measured))
      return failure();
    double error = std::abs(*measured - exact);
    if (!(best <= error))
      best = error;
    if (best <= 0.1 * tolerance * std::abs(exact))
      break;
  }
  return best;
}

/// Compares `grad` with differences of the loss in parameter `name`.
FailureOr<GradientError> compareGradient(Loss &loss, const std::string &name,
                                         const Tensor &value,
                                         const Tensor &grad, double lossValue,
                                         const GradientCheckOptions &options) {
  std::mt19937_64 random(options.seed);
  GradientError result;
  result.name = name;
  double squareError = 0, squareNorm = 0;
  for (const Direction &direction :
       chooseDirections(value.size(), options.elements, random)) {
    double exact = 0;
    for (auto [index, weight] : direction)
      exact += grad.at(index) * weight;
    FailureOr<double> error =
        smallestError(loss, name, value, direction, exact, options.tolerance);
    if (failed(error))
      return failure();
    squareError += *error * *error;
    squareNorm += exact * exact;
    ++result.compared;
  }
  // The error of a difference caused by rounding of the loss (some 20 ulp).
  double noise = std::sqrt(static_cast<double>(result.compared)) * 4e-15 *
                 std::max(1.0, std::abs(lossValue)) / kSteps[0];
  double error = std::sqrt(squareError);
  result.difference = error;
  result.norm = std::sqrt(squareNorm);
  result.error = error == 0 ? 0 : error / result.norm;
  result.isEqual = error <= options.tolerance * result.norm + noise;
  return result;
}

/// A copy of the problem's module with gradients.
FailureOr<OwningOpRef<ModuleOp>>
differentiate(ModuleOp forward, const GradientCheckOptions &options) {
  OwningOpRef<ModuleOp> module = forward.clone();
  PassManager passes(module->getContext());
  AutodiffPassOptions autodiffOptions;
  autodiffOptions.gradDtype = options.gradDtype;
  passes.addPass(createAutodiffPass(autodiffOptions));
  if (failed(passes.run(*module)))
    return failure();
  return module;
}

/// The gradients of the last run by parameter.
using Gradients = llvm::StringMap<const Tensor *>;

Gradients findGradients(ModuleOp module, Interpreter &interpreter) {
  Gradients gradients;
  for (StateOp state : module.getOps<StateOp>())
    if (state.getKind() == StateKind::Gradient)
      gradients[*state.getParam()] = interpreter.findState(state.getSymName());
  return gradients;
}

Tensor makeZeros(Tensor like) {
  for (double &element : like.floatValues())
    element = 0;
  return like;
}

} // namespace

double weft::drawSigned(std::mt19937_64 &random) {
  return static_cast<double>(random() >> 11) * 0x1p-52 - 1;
}

LogicalResult weft::compareGradients(const GradientProblem &problem,
                                     const GradientCheckOptions &options,
                                     GradientCheck &check) {
  auto module = differentiate(*problem.forward, options);
  if (failed(module))
    return failure();
  Interpreter backward(**module);
  for (const auto &[name, value] : problem.states)
    if (failed(backward.setState(name, value)))
      return failure();
  Loss loss(*problem.forward, problem.inputs);
  if (failed(backward.run(names::kMicro, problem.inputs)) ||
      failed(loss.setStates(problem.states)))
    return failure();
  FailureOr<double> lossValue = loss.evaluate();
  if (failed(lossValue))
    return failure();
  check.loss = *lossValue;
  const Gradients gradients = findGradients(**module, backward);
  ModuleOp forward = problem.forward.get();
  for (ParamOp param : forward.getOps<ParamOp>()) {
    if (!param.getTrainable() || param.getTie())
      continue;
    const std::string name = param.getSymName().str();
    const Tensor &value = problem.states.at(name);
    auto found = gradients.find(name);
    const bool exists = found != gradients.end();
    FailureOr<GradientError> error = compareGradient(
        loss, name, value, exists ? *found->second : makeZeros(value),
        *lossValue, options);
    if (failed(error) || failed(loss.setStates({{name, value}})))
      return failure();
    error->hasGradient = exists;
    check.parameters.push_back(*error);
  }
  return success();
}
