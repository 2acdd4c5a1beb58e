//===- Emit.cpp - A lowered module becomes code ---------------------------===//

#include "DiagnosticSink.h"

#include "weft/Lowering/Cpu/Cpu.h"
#include "weft/Pipeline/CompileFlags.h"

using namespace mlir;
using namespace weft;

Expected<CpuTarget> weft::cpuTargetOf(const FlagValues &flags) {
  std::string problem;
  FailureOr<CpuTarget> target =
      CpuTarget::parse(flags.getText("target"), problem);
  if (failed(target))
    return usageError(problem);
  return *target;
}

Expected<std::string> Compiler::llvmIr() {
  Expected<CpuTarget> target = cpuTargetOf(values);
  if (!target)
    return target.takeError();
  FailureOr<std::string> ir = emitLlvmIr(*owned, *target);
  if (failed(ir))
    return sink->takeError("emit");
  return std::move(*ir);
}

Expected<std::vector<char>> Compiler::objectCode() {
  Expected<CpuTarget> target = cpuTargetOf(values);
  if (!target)
    return target.takeError();
  FailureOr<std::vector<char>> object = emitObject(*owned, *target);
  if (failed(object))
    return sink->takeError("emit");
  return std::move(*object);
}
