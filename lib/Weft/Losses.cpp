//===- Losses.cpp - The loss that a model is trained for ------------------===//

#include "weft/Weft/Losses.h"

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
  if (std::isfinite(rounded) && (rounded != 0.0f || number == 0.0))
    return number;
  return FailureOr<double>(
      model.emitOpError("expects a number that is finite in f32, and not 0 "
                        "there unless it is 0, as weft.loss of output '")
      << model.getOutputName(result) << "', but got " << attr);
}

FailureOr<llvm::SmallVector<LossTerm>> weft::findLosses(ProgramOp model,
                                                        bool allowF64) {
  llvm::SmallVector<LossTerm> terms;
  for (unsigned i = 0; i < model.getNumResults(); ++i) {
    Attribute attr = model.getResultAttr(i, kLossWeightAttr);
    if (!attr)
      continue;
    FailureOr<double> weight = readWeight(model, i, attr);
    if (failed(weight))
      return failure();
    terms.push_back({i, *weight});
  }
  int alone = model.findOutput(kLossName);
  if (alone < 0 && terms.empty())
    return model.emitOpError("expects an output named 'loss' or outputs with "
                             "weft.loss, but got none");
  if (alone >= 0 && !terms.empty())
    return model.emitOpError("expects an output named 'loss' or outputs with "
                             "weft.loss, but got both");
  if (alone >= 0)
    terms.push_back({static_cast<unsigned>(alone), 1.0});
  for (const LossTerm &term : terms)
    if (failed(checkType(model, term.result, allowF64)))
      return failure();
  return terms;
}
