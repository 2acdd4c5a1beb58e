//===- ProgramLowering.cpp - One program over values to a plan ------------===//

#include "ProgramLowering.h"

#include "weft/Analysis/Implementations.h"

using namespace mlir;
using namespace weft;

StringAttr ProgramLowering::getScopeAttr() {
  return weft::getScopeAttr(current);
}

LogicalResult ProgramLowering::run(LoweringCounts &theCounts) {
  counts = &theCounts;
  for (Operation &op : source.getBody().front().without_terminator())
    if (failed(verifyImplementation(&op)))
      return failure();
  facts = prepareProgram(source, symbols);
  current = source;
  auto program = plan::ProgramOp::create(builder, source.getLoc(),
                                         source.getKind(), source.getSymName());
  body = builder.createBlock(&program.getBody());
  declareInputs();
  for (Operation &op : source.getBody().front()) {
    current = &op;
    if (failed(lowerOp(&op)))
      return failure();
  }
  assignRoles(program);
  return success();
}

void ProgramLowering::declareInputs() {
  for (BlockArgument argument : source.getBody().getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    Value buffer = declare<plan::InputOp>(
        argument.getLoc(),
        MemRefType::get(type.getShape(), type.getElementType()),
        builder.getStringAttr(source.getInputName(argument.getArgNumber())),
        IntegerAttr());
    buffers[argument] = {buffer, plan::Layout::getDense(type.getShape())};
  }
}

LogicalResult ProgramLowering::lowerOp(Operation *op) {
  // Lowered at their first use, or by the accumulation that carries them out.
  if (isViewOp(op) || isa<ReadOp, weft::ConstantOp>(op) ||
      facts.folded.contains(op))
    return success();
  if (!isa<DestinationOpInterface, weft::ReturnOp>(op))
    return op->emitOpError("expects to say where it can write "
                           "(DestinationOpInterface), but does not");
  bool isBackward = facts.positions.lookup(op) >= facts.backwardStart;
  if (!backwardStart && isBackward)
    forgetConstants();
  Operation *before = body->empty() ? nullptr : &body->back();
  LogicalResult result = isa<weft::ReturnOp>(op)
                             ? lowerReturn(cast<weft::ReturnOp>(op))
                             : lowerCommand(op);
  if (!backwardStart && isBackward)
    backwardStart = before ? before->getNextNode() : &body->front();
  return result;
}

LogicalResult ProgramLowering::lowerReturn(weft::ReturnOp op) {
  // Old contents that are outputs are saved before states are written.
  SmallVector<Value> outputs;
  for (Value output : op.getOutputs()) {
    Value buffer = getDense(output);
    if (plan::getRoot(buffer).getDefiningOp<plan::UseOp>()) {
      buffer = getView(materialize(output, getBuffer(output)));
      reportCopy("output of a state");
    }
    outputs.push_back(buffer);
  }
  writeStates(op);
  for (auto [index, output] : llvm::enumerate(outputs))
    plan::OutputOp::create(builder, op.getLoc(),
                           builder.getStringAttr(source.getOutputName(index)),
                           output);
  return success();
}

void ProgramLowering::writeStates(weft::ReturnOp op) {
  SmallVector<std::pair<Value, Value>> copies;
  for (auto [value, target] : llvm::zip(op.getValues(), op.getTargets())) {
    Value state = getState(cast<FlatSymbolRefAttr>(target).getAttr());
    if (value.getDefiningOp<weft::ConstantOp>()) {
      copies.push_back({value, state});
      continue;
    }
    ValueBuffer buffer = getBuffer(value);
    if (buffer.root == state && buffer.layout.offset == 0 &&
        buffer.layout.isDense())
      continue;
    // The source may be a state that another copy overwrites.
    if (buffer.root.getDefiningOp<plan::UseOp>())
      buffer = materialize(value, buffer);
    copies.push_back({getView(buffer), state});
  }
  for (auto [from, to] : copies) {
    if (auto constant = from.getDefiningOp<weft::ConstantOp>()) {
      writeConstant(constant, to);
      continue;
    }
    copyTo(from, to);
    reportCopy("write of a state");
  }
}

/// A buffer written before the backward part and read in it is an activation.
void ProgramLowering::assignRoles(plan::ProgramOp program) {
  if (!backwardStart)
    return;
  for (auto alloc : program.getBody().front().getOps<plan::AllocOp>()) {
    bool isForward = false, isBackward = false;
    for (Operation *user : plan::getUsers(alloc.getBuffer())) {
      bool before = user->isBeforeInBlock(backwardStart);
      isForward |= before;
      isBackward |= !before && !isa<plan::OutputOp>(user);
    }
    if (isForward && isBackward)
      alloc.setRole(plan::Role::Activation);
  }
}
