//===- Emit.cpp - A lowered module becomes code ---------------------------===//

#include "DiagnosticSink.h"
#include "weft/Pipeline/Metadata/DescribeSchedule.h"

#include "weft/Pipeline/Targets/Target.h"

#include "mlir/IR/Threading.h"

using namespace mlir;
using namespace weft;

Expected<std::string> Compiler::llvmIr() {
  FailureOr<std::string> ir = target().emitLlvmIr(*owned);
  if (failed(ir))
    return sink->takeError("emit");
  return std::move(*ir);
}

Expected<std::string> Compiler::timeline() {
  FailureOr<std::string> timeline = describeTimeline(*owned);
  if (failed(timeline))
    return sink->takeError("emit");
  return std::move(*timeline);
}

Expected<std::string> Compiler::ptx() {
  FailureOr<std::string> ptx = target().emitPtx(*owned);
  if (failed(ptx))
    return sink->takeError("emit");
  return std::move(*ptx);
}

Expected<std::vector<char>> Compiler::objectCode() {
  FailureOr<std::vector<char>> object = target().emitObject(*owned);
  if (failed(object))
    return sink->takeError("emit");
  return std::move(*object);
}

Expected<Objects> Compiler::programObjects() {
  const KernelCompiler *compiler = target().getKernelCompiler();
  Objects objects(compiler ? 2 : 1);
  auto emit = [&](size_t i) {
    FailureOr<std::vector<char>> object =
        !compiler ? target().emitObject(*owned)
        : i == 0  ? compiler->emitTables(*owned)
                  : compiler->emit(*owned);
    if (succeeded(object))
      objects[i] = std::move(*object);
    return LogicalResult(object);
  };
  if (failed(failableParallelForEachN(context.get(), 0, objects.size(), emit)))
    return sink->takeError("emit");
  return objects;
}
