//===- OpTable.cpp - Finds the function of an op --------------------------===//

#include "OpTable.h"

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

llvm::LogicalResult evaluate(OpCall &call) {
  if (failed(runFunction(call)))
    return llvm::failure();
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
         getOpTable().contains(opName);
}

} // namespace weft
