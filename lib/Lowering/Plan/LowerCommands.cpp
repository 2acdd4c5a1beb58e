//===- LowerCommands.cpp - One command for one op -------------------------===//
//
// Operands are read before destinations are chosen, so that copies come first.
//
//===----------------------------------------------------------------------===//

#include "ProgramLowering.h"

#include "weft/Analysis/CommandNames.h"
#include "weft/Analysis/Implementations.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;

static OpResult getResult(Operation *op, unsigned index = 0) {
  return op->getResult(index);
}

static UnitAttr getUnit(OpBuilder &builder, bool set) {
  return set ? builder.getUnitAttr() : UnitAttr();
}

/// Counts beyond the integers are the largest of them.
static IntegerAttr getCount(OpBuilder &builder, double flops) {
  constexpr double most = 9.2e18;
  return builder.getI64IntegerAttr(static_cast<int64_t>(std::min(flops, most)));
}

IntegerAttr ProgramLowering::getFlopsAttr() {
  if (auto cost = dyn_cast<CostOpInterface>(current))
    return getCount(builder, cost.getFlops());
  return {};
}

LogicalResult ProgramLowering::lowerKernelCall(weft::CallOp op) {
  auto kernel = symbols.lookup<KernelOp>(op.getKernelAttr().getAttr());
  FailureOr<double> flops = getKernelFlops(kernel);
  if (failed(flops))
    return failure();
  SmallVector<Value> inputs, outputs;
  for (Value input : op.getInputs())
    inputs.push_back(getDense(input));
  for (OpResult result : op->getResults())
    outputs.push_back(getDestination(result));
  plan::LaunchOp::create(builder, op.getLoc(), op.getKernelAttr(), inputs,
                         outputs, getScopeAttr(), getCount(builder, *flops),
                         FloatAttr(), IntegerAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// Accumulation
//===----------------------------------------------------------------------===//

/// The bytes of the result with the old contents in them, if the accumulation
/// `reads` those.
ValueBuffer ProgramLowering::getFoldedDestination(AccumulateOp op, bool reads) {
  OpResult result = getResult(op);
  auto place = facts.placement.find(result);
  ValueBuffer old = getBuffer(op.getOld());
  if (place != facts.placement.end()) {
    Value target = getDestination(result);
    if (!reads || (plan::getRoot(target) == old.root &&
                   isSamePlace(place->second.layout, old.layout)))
      return buffers[result];
    copyTo(getView(old), target);
  } else {
    buffers[result] = materialize(op.getOld(), old);
  }
  reportCopy("old contents that an accumulation may not overwrite");
  return buffers[result];
}

void ProgramLowering::lowerAccumulate(AccumulateOp op) {
  // A flag that is known says whether to add; another is read at run time.
  Accumulation accumulation;
  DenseElementsAttr known;
  if (matchPattern(op.getAccumulate(), m_Constant(&known)) && known.isSplat())
    accumulation.adds = !known.getSplatValue<APFloat>().isZero();
  else
    accumulation.flag = getDense(op.getAccumulate());
  bool reads = accumulation.adds || accumulation.flag;
  ValueBuffer target = getFoldedDestination(op, reads);
  Operation *producer = current = findFoldableProducer(op);
  ValueBuffer buffer = {
      target.root, *target.layout.reshape(getShape(producer->getResult(0)))};
  if (auto gradient = dyn_cast<EmbeddingGradOp>(producer))
    lowerEmbeddingGrad(gradient, getView(buffer), accumulation);
  else
    lowerProduct(producer, buffer, accumulation);
  ++counts->folded;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

void ProgramLowering::lowerEmbedding(EmbeddingOp op) {
  Value table = getDense(op.getTable()), ids = getDense(op.getIds());
  emit<plan::EmbeddingOp>(table, ids, getDestination(getResult(op)));
}

void ProgramLowering::lowerEmbeddingGrad(EmbeddingGradOp op, Value target,
                                         Accumulation accumulation) {
  Value grad = getDense(op.getGrad()), ids = getDense(op.getIds());
  emit<plan::EmbeddingGradOp>(grad, ids, target, accumulation.flag,
                              /*workspace=*/Value(),
                              getUnit(builder, accumulation.adds));
}

//===----------------------------------------------------------------------===//
// Other dialects
//===----------------------------------------------------------------------===//

LogicalResult ProgramLowering::lowerSource(CommandSourceOpInterface op) {
  auto cost = dyn_cast<CostOpInterface>(*op);
  if (!cost)
    return op->emitOpError("expects an op with a cost (CostOpInterface) to "
                           "become a command, but got one without");
  auto destination = cast<DestinationOpInterface>(op.getOperation());
  if (llvm::any_of(op->getResults(), [&](OpResult result) {
        return destination.canAccumulate(result.getResultNumber());
      }))
    return op->emitOpError("does not support canAccumulate with a command of "
                           "another dialect yet; leave the answer out");
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (!op.canRead(index, getBuffer(operand).layout))
      getDense(operand);
  SmallVector<Value> operands, results;
  for (Value operand : op->getOperands())
    operands.push_back(getView(getBuffer(operand)));
  for (OpResult result : op->getResults())
    results.push_back(getDestination(result));
  Operation *made = op.buildCommand(builder, operands, results);
  auto command = dyn_cast<plan::CommandOpInterface>(made);
  if (!command)
    return op->emitOpError("expects its command to be one of a plan "
                           "(CommandOpInterface), but got ")
           << made->getName();
  command.setScopeAttr(getScopeAttr());
  if (double flops = cost.getFlops(); flops > 0)
    command.setFlopsAttr(getCount(builder, flops));
  return success();
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

LogicalResult ProgramLowering::lowerCommand(Operation *op) {
  auto done = [](auto...) { return success(); };
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](weft::CallOp o) { return lowerKernelCall(o); })
      .Case<MatmulOp, GemmOp>([&](Operation *o) {
        getDestination(getResult(o));
        return lowerProduct(o, buffers[getResult(o)], {}), done();
      })
      .Case([&](AttentionOp o) { return lowerAttention(o), done(); })
      .Case([&](AttentionGradOp o) { return lowerAttentionGrad(o), done(); })
      .Case([&](AccumulateOp o) { return lowerAccumulate(o), done(); })
      .Case([&](EmbeddingOp o) { return lowerEmbedding(o), done(); })
      .Case([&](EmbeddingGradOp o) {
        return lowerEmbeddingGrad(o, getDestination(getResult(o)), {}), done();
      })
      .Case([&](ConcatOp o) { return lowerConcat(o), done(); })
      .Case([&](PadOp o) { return lowerPad(o), done(); })
      .Case([&](CommandSourceOpInterface o) { return lowerSource(o); })
      .Default([](Operation *o) { return reportNoLowering(o); });
}
