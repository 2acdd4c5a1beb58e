//===- StepEstimate.h - What a training step takes --------------*- C++ -*-===//

#ifndef WEFT_ANALYSIS_STEPESTIMATE_H
#define WEFT_ANALYSIS_STEPESTIMATE_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>

namespace weft {

/// A step of one micro-step and the update, by the estimates of a plan.
struct StepEstimate {
  double us = 0;
  double collectivesUs = 0; // of all collectives, hidden or not
  double exposedUs = 0;     // while nothing is computed
  int64_t sentBytes = 0;    // by one rank
};

llvm::FailureOr<StepEstimate> estimateStep(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_ANALYSIS_STEPESTIMATE_H
