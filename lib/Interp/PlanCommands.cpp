//===- PlanCommands.cpp - Commands that no weft op says alone -------------===//

#include "OpTable.h"

namespace weft {

static llvm::LogicalResult evaluateLaunch(OpCall &call) {
  return evaluateKernel(call, call.as<plan::LaunchOp>().getKernelAttr());
}

void addPlanCommands(OpTable &table) { table["plan.launch"] = evaluateLaunch; }

} // namespace weft
