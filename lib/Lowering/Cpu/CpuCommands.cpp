//===- CpuCommands.cpp - How the CPU runs a command -----------------------===//

#include "CpuModels.h"

#include "weft/Runtime/Execute/Workspaces.h"

using namespace mlir;

#include "weft/Lowering/Cpu/CpuCommands.cpp.inc"

namespace weft {

int32_t getDType(Type element) {
  if (element.isF32())
    return WEFT_F32;
  if (element.isF64())
    return WEFT_F64;
  if (element.isF16())
    return WEFT_F16;
  if (element.isBF16())
    return WEFT_BF16;
  if (element.isInteger(1))
    return WEFT_I1;
  return element.isInteger(32) ? WEFT_I32 : WEFT_I64;
}

static StringRef getKindName(WeftCommandKind kind) {
  switch (kind) {
#define WEFT_NAME_KIND(number, KIND, name, Record)                             \
  case WEFT_##KIND:                                                            \
    return #name;
    WEFT_COMMAND_KINDS(WEFT_NAME_KIND)
#undef WEFT_NAME_KIND
  case WEFT_KERNEL:
  case WEFT_EXTENSION:
    break;
  }
  llvm_unreachable("a kind without a routine of its own");
}

FailureOr<CpuCommand> CpuCommand::get(plan::CommandOpInterface command) {
  auto model = dyn_cast<CpuCommandOpInterface>(command.getOperation());
  if (!model)
    return command->emitOpError("expects a routine that runs it on the CPU "
                                "(CpuCommandOpInterface), but there is none");
  CpuCommand made;
  made.kind = model.getKind();
  made.routine = model.getRoutine().str();
  if (made.routine.empty() && made.kind == WEFT_EXTENSION)
    return command->emitOpError("expects its model for the CPU to name a "
                                "routine (getRoutine), but got none");
  if (made.routine.empty())
    made.routine = ("weft_cpu_" + getKindName(made.kind)).str();
  if (failed(model.makeRecord(made.record)))
    return failure();
  return made;
}

int64_t CpuCommand::getWorkspaceBytes(int64_t threads) const {
  return workspaceBytes(kind, record.data(), threads);
}

void registerCpuCommandModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, plan::PlanDialect *) {
    attachMatrixModels(context);
    attachTrainingModels(context);
    attachValueModels(context);
  });
}

} // namespace weft
