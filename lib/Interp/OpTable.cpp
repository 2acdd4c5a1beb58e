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
  return table;
}

const OpTable &getOpTable() {
  static const OpTable table = buildOpTable();
  return table;
}

bool isInterpretable(llvm::StringRef opName) {
  return getOpTable().contains(opName);
}

} // namespace weft
