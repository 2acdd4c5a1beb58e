//===- OpTable.cpp - Finds the function of an op --------------------------===//

#include "OpTable.h"
#include "RunCollectives.h"

namespace weft {

static OpTable buildOpTable() {
  OpTable table;
  addStructureOps(table);
  addElementwiseOps(table);
  addShapeOps(table);
  addMatmulOps(table);
  addNormOps(table);
  addAttentionOps(table);
  addLossOps(table);
  addRandomOps(table);
  addTrainingOps(table);
  addScalerOps(table);
  addPlanCommands(table);
  return table;
}

const OpTable &getOpTable() {
  static const OpTable table = buildOpTable();
  return table;
}

static llvm::LogicalResult runFunction(OpCall &call) {
  auto found = getOpTable().find(call.op->getName().getStringRef());
  if (found != getOpTable().end())
    return found->second(call);
  if (auto interpreted = llvm::dyn_cast<InterpretedOpInterface>(call.op))
    return interpreted.interpret(call);
  return call.fail() << "expects a function of the interpreter "
                        "(InterpretedOpInterface), but there is none";
}

/// The functions of all ranks in turn; the one of a collective takes part for
/// all of them.
static llvm::LogicalResult runFunctions(llvm::MutableArrayRef<OpCall> ranks) {
  mlir::Operation *op = ranks.front().op;
  if (CollectiveFunction function = findCollective(op->getName()))
    return runCollective(function, ranks);
  for (auto [rank, call] : llvm::enumerate(ranks)) {
    if (succeeded(runFunction(call)))
      continue;
    if (ranks.size() > 1)
      mlir::emitRemark(op->getLoc()) << "on rank " << rank;
    return llvm::failure();
  }
  return llvm::success();
}

llvm::LogicalResult evaluate(llvm::MutableArrayRef<OpCall> ranks) {
  if (failed(runFunctions(ranks)))
    return llvm::failure();
  for (OpCall &call : ranks)
    for (Tensor &result : call.results)
      if (call.interpreter.getMode() == ComputeMode::F32 || !result.isFloat())
        result.roundElements();
  return llvm::success();
}

Tensor OpCall::castOperand(std::optional<mlir::Type> dtype) const {
  if (!dtype)
    return operand(0);
  Tensor value = operand(0).renamed(*elementKindOf(*dtype));
  if (interpreter.getMode() == ComputeMode::F32)
    value.roundElements();
  return value;
}

bool isInterpretable(llvm::StringRef opName) {
  return opName == AutocastOp::getOperationName() ||
         opName == RecomputeOp::getOperationName() ||
         getOpTable().contains(opName) || findCollective(opName);
}

static llvm::LogicalResult evaluateLaunch(OpCall &call) {
  return evaluateKernel(call, call.as<plan::LaunchOp>().getKernelAttr());
}

void addPlanCommands(OpTable &table) { table["plan.launch"] = evaluateLaunch; }

} // namespace weft
