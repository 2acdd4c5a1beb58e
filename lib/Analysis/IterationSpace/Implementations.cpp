//===- Implementations.cpp - Kind of command for each op ------------------===//

#include "weft/Analysis/Implementations.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

StringRef weft::getCommandKind(Operation *op) {
  auto kind = dyn_cast<CommandKindOpInterface>(op);
  return kind ? kind.getCommandKind() : StringRef();
}

bool weft::canGenerate(Operation *op) {
  return isa<ReduceOp, ScalarBodyOpInterface, CompositeOpInterface>(op);
}

bool weft::needsNoChoice(Operation *op) {
  return isViewOp(op) ||
         isa<ReadOp, ConstantOp, IotaOp, ConcatOp, PadOp, CallOp>(op);
}

StringRef weft::getImplementation(Operation *op) {
  auto impl = dyn_cast_or_null<StringAttr>(
      op->getDiscardableAttr(WeftDialect::kImplAttr));
  return impl ? impl.getValue() : StringRef();
}

//===----------------------------------------------------------------------===//
// Accumulations
//===----------------------------------------------------------------------===//

/// The value behind reshapes that nothing else reads.
static Value skipOwnReshapes(Value value) {
  while (renames(value.getDefiningOp()) && value.hasOneUse())
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

Operation *weft::findFoldableProducer(AccumulateOp op) {
  Value value = skipOwnReshapes(op.getValue());
  auto destination =
      dyn_cast_or_null<DestinationOpInterface>(value.getDefiningOp());
  bool folds =
      destination && !getImplementation(destination).empty() &&
      destination.canAccumulate(cast<OpResult>(value).getResultNumber()) &&
      value.hasOneUse() && op.getOld().hasOneUse();
  return folds ? destination.getOperation() : nullptr;
}

/// The accumulation that adds a result of `op` and of nothing else, or null.
static AccumulateOp findAccumulation(Operation *op) {
  for (Value result : op->getResults()) {
    while (result.hasOneUse() && renames(*result.user_begin()))
      result = result.user_begin()->getResult(0);
    if (!result.hasOneUse())
      continue;
    auto accumulate = dyn_cast<AccumulateOp>(*result.user_begin());
    if (accumulate && isFolded(accumulate))
      return accumulate;
  }
  return nullptr;
}

bool weft::isFolded(AccumulateOp op) {
  return getImplementation(op) == kFoldedImpl;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult weft::reportNoCommand(Operation *op) {
  if (isa<DestinationOpInterface>(op))
    return op->emitOpError("expects a command that runs it (Weft_RunsAs, or "
                           "CommandSourceOpInterface in another dialect), but "
                           "there is none");
  return op->emitOpError("expects a view, a formula or a command that runs it, "
                         "but got none");
}

LogicalResult weft::reportNoRoutine(Operation *op, StringRef title) {
  return op->emitOpError("expects a routine of ")
         << title << " for its command " << getCommandKind(op)
         << " (KernelLibrary), but there is none";
}

LogicalResult weft::reportNoLowering(Operation *op) {
  return op->emitOpError("expects a lowering to its command ")
         << getCommandKind(op) << " (weft-lower-to-plan), but there is none";
}

static LogicalResult verifyFolded(Operation *op) {
  if (auto accumulate = dyn_cast<AccumulateOp>(op);
      accumulate && isFolded(accumulate)) {
    Operation *producer = findFoldableProducer(accumulate);
    if (!producer)
      return op->emitOpError("expects a product before it that can add its "
                             "result, for weft.impl = \"folded\"");
    if (producer->getDiscardableAttr(kFoldedAttr))
      return success();
    InFlightDiagnostic error =
        op->emitOpError("expects weft.folded on the op whose result it adds");
    error.attachNote(producer->getLoc()) << "has no weft.folded";
    return error;
  }
  if (!op->getDiscardableAttr(kFoldedAttr) || findAccumulation(op))
    return success();
  return op->emitOpError("expects weft.folded only where a weft.accumulate "
                         "with weft.impl = \"folded\" adds the result");
}

/// An op that has a `weft.impl`.
static LogicalResult verifyKind(Operation *op) {
  StringRef impl = getImplementation(op), kind = getCommandKind(op);
  bool isFoldedImpl = isa<AccumulateOp>(op) && impl == kFoldedImpl;
  if ((impl == kind && !kind.empty()) || isFoldedImpl)
    return verifyFolded(op);
  if (kind.empty())
    return op->emitOpError("expects no weft.impl where no routine runs the "
                           "op, but got \"")
           << impl << "\"";
  return op->emitOpError("expects weft.impl to be ")
         << kind << ", but got \"" << impl << "\"";
}

LogicalResult weft::verifyClaim(Operation *op) {
  if (op->getDiscardableAttr(WeftDialect::kImplAttr))
    return verifyKind(op);
  if (op->getDiscardableAttr(kFoldedAttr))
    return op->emitOpError("expects no weft.folded without weft.impl");
  return success();
}

LogicalResult weft::verifyChoice(Operation *op) {
  if (failed(verifyClaim(op)))
    return failure();
  if (!getImplementation(op).empty())
    return success();
  if (needsNoChoice(op) || canGenerate(op))
    return success();
  if (getCommandKind(op).empty())
    return reportNoCommand(op);
  return op->emitOpError("expects weft.impl, the choice of "
                         "weft-select-kernels, but got none");
}

LogicalResult weft::verifyImplementation(Operation *op) {
  if (getImplementation(op).empty() && canGenerate(op) && !needsNoChoice(op))
    return op->emitOpError("expects a kernel around it; run weft-fuse first");
  return verifyChoice(op);
}
