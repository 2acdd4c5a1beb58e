//===- Losses.cpp - The losses and metrics of a model ---------------------===//

#include "weft/Weft/Losses.h"

#include "weft/Abi/MetricsFields.h"

#include <cmath>

using namespace mlir;
using namespace weft;

static LogicalResult checkType(ProgramOp model, unsigned result,
                               bool allowF64) {
  auto type = dyn_cast<RankedTensorType>(model.getResultTypes()[result]);
  if (type && type.getRank() == 0 &&
      (type.getElementType().isF32() ||
       (allowF64 && type.getElementType().isF64())))
    return success();
  return model.emitOpError("expects output '")
         << model.getOutputName(result) << "' of type tensor<f32>, but got "
         << model.getResultTypes()[result];
}

static FailureOr<double> readWeight(ProgramOp model, unsigned result,
                                    Attribute attr) {
  auto weight = dyn_cast<FloatAttr>(attr);
  // The weighted sum is taken in f32.
  double number = weight ? weight.getValueAsDouble() : NAN;
  float rounded = static_cast<float>(number);
  if (std::isfinite(rounded) && rounded != 0.0f)
    return number;
  InFlightDiagnostic error =
      model.emitOpError("expects a number that is finite and not 0 in f32 as "
                        "weft.loss of output '")
      << model.getOutputName(result) << "', but got " << attr;
  if (number == 0.0)
    error.attachNote() << "weft.metric reports an output that is not trained";
  return failure();
}

static FailureOr<SmallVector<LossTerm>> findWeighted(ProgramOp model) {
  SmallVector<LossTerm> terms;
  for (unsigned i = 0; i < model.getNumResults(); ++i) {
    Attribute attr = model.getResultAttr(i, kLossWeightAttr);
    if (!attr)
      continue;
    FailureOr<double> weight = readWeight(model, i, attr);
    if (failed(weight))
      return failure();
    terms.push_back({i, *weight});
  }
  return terms;
}

/// The output `loss`, or the outputs with a weight.
static FailureOr<SmallVector<LossTerm>> findLosses(ProgramOp model) {
  FailureOr<SmallVector<LossTerm>> terms = findWeighted(model);
  if (failed(terms))
    return failure();
  int alone = model.findOutput(kLossName);
  if (alone < 0 && terms->empty())
    return model.emitOpError("expects an output named 'loss' or outputs with "
                             "weft.loss, but got none");
  if (alone >= 0 && !terms->empty())
    return model.emitOpError("expects an output named 'loss' or outputs with "
                             "weft.loss, but got both");
  if (alone >= 0)
    terms->push_back({static_cast<unsigned>(alone), 1.0});
  return terms;
}

static LogicalResult checkMetric(ProgramOp model, unsigned result) {
  StringRef name = model.getOutputName(result);
  if (name == kLossName || model.getResultAttr(result, kLossWeightAttr))
    return model.emitOpError("expects output '")
           << name << "' to be a loss or a metric, but got both";
  if (isMetricsField(name))
    return model.emitOpError("expects a metric with a name that no field of a "
                             "metrics file has, but got '")
           << name << "'";
  return success();
}

FailureOr<ModelOutputs> weft::findModelOutputs(ProgramOp model, bool allowF64) {
  ModelOutputs outputs;
  for (unsigned i = 0; i < model.getNumResults(); ++i)
    if (model.getResultAttr(i, WeftDialect::kMetricAttr)) {
      if (failed(checkMetric(model, i)))
        return failure();
      outputs.metrics.push_back(i);
    }
  FailureOr<SmallVector<LossTerm>> losses = findLosses(model);
  if (failed(losses))
    return failure();
  outputs.losses = std::move(*losses);
  SmallVector<unsigned> reported(outputs.metrics);
  for (const LossTerm &term : outputs.losses)
    reported.push_back(term.result);
  for (unsigned result : reported)
    if (failed(checkType(model, result, allowF64)))
      return failure();
  return outputs;
}

SmallVector<StringRef> weft::getMetricNames(ProgramOp program) {
  SmallVector<StringRef> names;
  for (unsigned i = 0; i < program.getNumResults(); ++i)
    if (program.getResultAttr(i, WeftDialect::kMetricAttr))
      names.push_back(program.getOutputName(i));
  return names;
}
