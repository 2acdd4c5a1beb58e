//===- TransferCommands.cpp - Copies to and from the host -----------------===//

#include "StreamNumbers.h"

#include "weft/Plan/Transfers.h"

#define GET_OP_CLASSES
#include "weft/Plan/PlanTransferOps.cpp.inc"

using namespace mlir;
using namespace llvm;

namespace weft::plan {

LogicalResult StagingOp::verify() {
  return verifyRoot(*this, cast<MemRefType>(getBuffer().getType()));
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

LogicalResult EventOp::verify() { return verifyStream(*this, getStream()); }

static EventOp findEvent(Operation *op, FlatSymbolRefAttr name,
                         SymbolTableCollection &symbols) {
  Operation *module = op->getParentOp()->getParentOp();
  auto event = symbols.lookupSymbolIn<EventOp>(module, name);
  if (!event)
    op->emitOpError("expects an event of the module, but got ") << name;
  // An event behind the program has not been verified yet.
  if (event && !event.getStreamAttr()) {
    op->emitOpError("expects an event with a stream, but got ") << name;
    return {};
  }
  return event;
}

LogicalResult RecordOp::verifySymbolUses(SymbolTableCollection &symbols) {
  EventOp event = findEvent(*this, getEventAttr(), symbols);
  if (!event)
    return failure();
  int64_t stream = cast<CommandOpInterface>(getOperation()).getStreamNumber();
  int64_t expected = event.getStream();
  if (stream == expected)
    return success();
  InFlightDiagnostic error = emitOpError("expects stream ")
                             << expected << ", the event's stream, but got "
                             << stream;
  error.attachNote(event.getLoc()) << "declared here";
  return error;
}

LogicalResult WaitOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return success(findEvent(*this, getEventAttr(), symbols) != nullptr);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

LogicalResult UploadOp::verify() {
  for (Value buffer : getInputs()) {
    auto input = buffer.getDefiningOp<InputOp>();
    if (!input)
      return emitOpError("expects inputs of the program, but got ")
             << buffer.getType() << " that is none";
    int64_t uploads = count_if(
        buffer.getUsers(), [](Operation *user) { return isa<UploadOp>(user); });
    if (uploads != 1)
      return emitOpError("expects to bring each input once, but got \"")
             << input.getName() << "\" again";
  }
  return success();
}

LogicalResult ReadbackOp::verify() {
  for (Value buffer : getOutputs())
    if (none_of(buffer.getUsers(),
                [](Operation *user) { return isa<OutputOp>(user); }))
      return emitOpError("expects buffers of outputs, but got ")
             << buffer.getType() << " that is none";
  return success();
}

/// Where some outputs are read back, all are: nobody else brings them.
LogicalResult verifyReadback(ProgramOp program) {
  auto isReadBack = [](OutputOp output) {
    return any_of(output.getBuffer().getUsers(),
                  [](Operation *op) { return isa<ReadbackOp>(op); });
  };
  auto outputs = program.getBody().front().getOps<OutputOp>();
  if (none_of(outputs, isReadBack))
    return success();
  for (OutputOp output : outputs)
    if (!isReadBack(output))
      return output.emitOpError("expects to be read back as other outputs of "
                                "the program are, but is not");
  return success();
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

bool isStaged(Value root) {
  if (root.getDefiningOp<InputOp>())
    return any_of(root.getUsers(),
                  [](Operation *user) { return isa<UploadOp>(user); });
  return root.getDefiningOp<StagingOp>() != nullptr;
}

/// The input that a command copies to all of `root`, if it is a copy.
static InputOp getCopy(Operation *command, Value root) {
  auto copy = dyn_cast<CopyOp>(command);
  return copy && copy.getTarget() == root
             ? copy.getSource().getDefiningOp<InputOp>()
             : InputOp();
}

/// Whether a command writes a root or a view of it.
static bool writes(Operation *user, Value root) {
  auto command = dyn_cast<CommandOpInterface>(user);
  return command && any_of(command.getAccesses(), [&](const Access &access) {
           return access.isWritten && getRoot(access.buffer) == root;
         });
}

InputOp getCopiedInput(Value root) {
  if (auto input = root.getDefiningOp<InputOp>())
    return input;
  InputOp copied;
  for (Operation *user : getUsers(root)) {
    if (!writes(user, root))
      continue;
    InputOp input = getCopy(user, root);
    if (!input || copied)
      return {};
    copied = input;
  }
  return copied;
}

int64_t countConstantBytes(ModuleOp module, int64_t alignment) {
  llvm::DenseSet<Attribute> counted;
  int64_t bytes = 0;
  module.walk([&](ConstantOp op) {
    if (!op.getValue().isSplat() && counted.insert(op.getValueAttr()).second)
      bytes += llvm::alignTo(
          getBufferBytes(cast<MemRefType>(op.getTarget().getType())),
          alignment);
  });
  return bytes;
}

bool isTransfer(Operation *command) {
  return isa<UploadOp, ReadbackOp, RecordOp, WaitOp>(command);
}

} // namespace weft::plan
