//===- Emit.cpp - A lowered module becomes code ---------------------------===//

#include "DiagnosticSink.h"
#include "KernelsAhead.h"
#include "weft/Pipeline/Metadata/DescribeSchedule.h"

#include "weft/Pipeline/Targets/Target.h"

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
  Objects objects;
  auto add = [&](FailureOr<std::vector<char>> object) {
    if (succeeded(object))
      objects.push_back(std::move(*object));
    return succeeded(object);
  };
  const KernelCompiler *compiler = target().getKernelCompiler();
  // The tables first: the kernels may still be on their way.
  bool isGood =
      compiler ? add(compiler->emitTables(*owned)) &&
                     add(ahead ? ahead->takeObject() : compiler->emit(*owned))
               : add(target().emitObject(*owned));
  ahead.reset();
  if (!isGood)
    return sink->takeError("emit");
  return objects;
}
