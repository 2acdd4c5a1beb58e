//===- OpFunctions.cpp - Runs the function of an op -----------------------===//

#include "OpFunctions.h"
#include "RunCollectives.h"

using namespace mlir;
using namespace weft;

static LogicalResult runFunction(OpCall &call) {
  if (auto interpreted = dyn_cast<InterpretedOpInterface>(call.op))
    return interpreted.interpret(call);
  return call.fail() << "expects a function of the interpreter "
                        "(InterpretedOpInterface), but there is none";
}

/// The functions of all ranks in turn; the one of a collective takes part for
/// all of them.
static LogicalResult runFunctions(MutableArrayRef<OpCall> ranks) {
  Operation *op = ranks.front().op;
  if (auto collective = dyn_cast<InterpretedCollectiveOpInterface>(op))
    return runCollective(collective, ranks);
  for (auto [rank, call] : llvm::enumerate(ranks)) {
    if (succeeded(runFunction(call)))
      continue;
    if (ranks.size() > 1)
      mlir::emitRemark(op->getLoc()) << "on rank " << rank;
    return failure();
  }
  return success();
}

LogicalResult weft::evaluate(MutableArrayRef<OpCall> ranks) {
  if (failed(runFunctions(ranks)))
    return failure();
  for (OpCall &call : ranks)
    for (Tensor &result : call.results)
      if (call.interpreter.getMode() == ComputeMode::F32 || !result.isFloat())
        result.roundElements();
  return success();
}

Tensor OpCall::castOperand(std::optional<Type> dtype) const {
  if (!dtype)
    return operand(0);
  Tensor value = operand(0).renamed(*elementKindOf(*dtype));
  if (interpreter.getMode() == ComputeMode::F32)
    value.roundElements();
  return value;
}
