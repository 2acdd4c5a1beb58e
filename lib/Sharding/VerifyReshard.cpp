//===- VerifyReshard.cpp - Check the modules of reshard-scopes ------------===//

#include "Partition.h"

#include "PassUses.h"

#include "weft/Weft/Programs.h"

using namespace mlir;
using namespace weft;

static bool isModule(ModuleOp module, StringRef path) {
  return module
      .walk([&](Operation *op) {
        return Reshard::isInside(getScope(op), path) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
/// Forward uses of a state: by ops inside of a module, and by other ops.
struct ForwardUses {
  ForwardUses(ReadOp read, Operation *loss, StringRef path) {
    for (OpOperand *use : splitUses(read, loss).forward) {
      StringRef scope = getScope(use->getOwner());
      if (!scope.empty())
        (Reshard::isInside(scope, path) ? isInside : isOutside) = true;
    }
  }

  bool isInside = false, isOutside = false;
};
} // namespace

static InFlightDiagnostic emitRefusal(ModuleOp module, StringRef path) {
  return module.emitError("expects modules that are gathered apart in "
                          "`reshard`, but got '")
         << path << "', which ";
}

static LogicalResult verifyApart(ModuleOp module, ProgramOp micro,
                                 StringRef path) {
  Operation *loss = findLoss(micro);
  ReadOp shared;
  for (auto read : micro.getBody().getOps<ReadOp>()) {
    const ForwardUses uses(read, loss, path);
    if (uses.isInside && !uses.isOutside)
      return success();
    if (uses.isInside)
      shared = read;
  }
  if (!shared)
    return emitRefusal(module, path) << "has no parameters";
  return emitRefusal(module, path)
         << "shares " << shared.getSourceAttr() << " with others";
}

LogicalResult weft::verifyReshard(ModuleOp module, const Reshard &reshard) {
  FailureOr<ProgramOp> micro = findOnlyProgram(module, ProgramKind::Micro);
  if (failed(micro))
    return failure();
  for (const std::string &path : reshard.scopes) {
    if (!isModule(module, path))
      return module.emitError(
                 "expects module paths of the model in `reshard`, but got '")
             << path << "'";
    if (*micro && failed(verifyApart(module, *micro, path)))
      return failure();
  }
  return success();
}
