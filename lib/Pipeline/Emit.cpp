//===- Emit.cpp - A lowered module becomes code ---------------------------===//

#include "DiagnosticSink.h"

#include "weft/Lowering/Cpu/Cpu.h"

using namespace mlir;
using namespace weft;

Expected<std::string> Compiler::llvmIr() {
  Expected<CpuTarget> target = parseCpuTarget(values.getText("target"));
  if (!target)
    return target.takeError();
  FailureOr<std::string> ir = emitLlvmIr(*owned, *target);
  if (failed(ir))
    return sink->takeError("emit");
  return std::move(*ir);
}

Expected<std::vector<char>> Compiler::objectCode() {
  Expected<CpuTarget> target = parseCpuTarget(values.getText("target"));
  if (!target)
    return target.takeError();
  FailureOr<std::vector<char>> object = emitObject(*owned, *target);
  if (failed(object))
    return sink->takeError("emit");
  return std::move(*object);
}
