//===- StepEstimate.cpp - What a training step takes ----------------------===//

#include "weft/Analysis/StepEstimate.h"

#include "weft/Abi/Names.h"
#include "weft/Analysis/Cost.h"
#include "weft/Analysis/Timeline.h"

using namespace mlir;

namespace weft {

/// Further micro-steps of a step have programs of their own.
static bool isOfOneMicroStep(plan::ProgramOp program) {
  return program.getSymName() == names::kMicro ||
         program.getSymName() == names::kApply ||
         program.getSymName() == names::kDenominators;
}

FailureOr<StepEstimate> estimateStep(ModuleOp module) {
  StepEstimate step;
  for (auto program : module.getOps<plan::ProgramOp>()) {
    if (!isOfOneMicroStep(program))
      continue;
    const FailureOr<Timeline> timeline = Timeline::get(program);
    if (failed(timeline))
      return failure();
    step.us += timeline->getEnd();
    step.exposedUs += timeline->getExposed();
    for (const TimelineEntry &entry : timeline->getEntries())
      if (const int64_t bytes = getSentBytes(entry.command)) {
        step.collectivesUs += entry.getTime();
        step.sentBytes += bytes;
      }
  }
  return step;
}

} // namespace weft
