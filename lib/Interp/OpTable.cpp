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
  return table;
}

const OpTable &getOpTable() {
  static const OpTable table = buildOpTable();
  return table;
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
