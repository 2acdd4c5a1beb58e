//===- PlanQueries.cpp - Programs and facts of a plan ---------------------===//

#include "weft/Analysis/PlanQueries.h"

#include "weft/Weft/Optimizers.h"
#include "weft/Weft/Weft.h"

using namespace mlir;
using namespace weft;

FailureOr<int64_t> weft::getBufferAlignment(ModuleOp module) {
  auto alignment =
      module->getAttrOfType<IntegerAttr>(plan::PlanDialect::kAlignmentAttr);
  if (alignment && alignment.getInt() > 0)
    return alignment.getInt();
  return module.emitError("expects ")
         << plan::PlanDialect::kAlignmentAttr
         << ", the alignment of buffers that weft-plan-memory records, but got "
            "none";
}

plan::ProgramOp weft::findProgram(ModuleOp module, ProgramKind kind) {
  plan::ProgramOp found;
  int count = 0;
  for (auto program : module.getOps<plan::ProgramOp>()) {
    if (program.getKind() != kind)
      continue;
    if (program.getSymName() == stringifyProgramKind(kind))
      return program;
    found = program;
    ++count;
  }
  return count == 1 ? found : plan::ProgramOp();
}

SmallVector<const OptimizerInfo *> weft::findOptimizers(ModuleOp module) {
  auto training =
      module->getAttrOfType<TrainingAttr>(WeftDialect::kTrainingAttr);
  SmallVector<const OptimizerInfo *> found;
  for (const OptimizerInfo *optimizer : getOptimizers())
    if (training && llvm::is_contained(
                        training.getOptimizers().getAsValueRange<StringAttr>(),
                        optimizer->name))
      found.push_back(optimizer);
  return found;
}
