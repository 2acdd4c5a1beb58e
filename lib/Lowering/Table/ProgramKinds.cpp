//===- ProgramKinds.cpp - Programs that a run asks for --------------------===//

#include "ProgramKinds.h"

#include "weft/Abi/Names.h"
#include "weft/Plan/Plan.h"

using namespace mlir;

namespace weft {

static LogicalResult verifyKind(ModuleOp module, StringRef kind) {
  plan::ProgramOp called, other, second;
  for (auto program : module.getOps<plan::ProgramOp>()) {
    if (program.getSymName() == kind)
      called = program;
    else if (program.getKind() == kind)
      (other ? second : other) = program;
  }
  if (called && called.getKind() != kind)
    return called.emitOpError("expects a program of kind \"")
           << kind << "\" under the name @" << kind << ", but got \""
           << called.getKind() << "\"";
  if (called || !second)
    return success();
  InFlightDiagnostic error =
      second.emitOpError("expects one program of kind \"")
      << kind << "\", or one of them called @" << kind << ", but got @"
      << other.getSymName() << " and @" << second.getSymName();
  error.attachNote(other.getLoc()) << "the first is here";
  return error;
}

LogicalResult verifyProgramKinds(ModuleOp module) {
  for (StringRef kind :
       {names::kInit, names::kMicro, names::kApply, names::kEval,
        names::kLogits, names::kRefresh, names::kDenominators})
    if (failed(verifyKind(module, kind)))
      return failure();
  return success();
}

} // namespace weft
