//===- LibraryCalls.cpp - Argument lists of library routines --------------===//
//
// One function per op: the lists of include/weft/Runtime/Library.h. Operands
// are read before destinations are chosen, so that copies come first.
//
//===----------------------------------------------------------------------===//

#include "ProgramLowering.h"

#include "weft/Analysis/Implementations.h"
#include "weft/Runtime/Philox.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft {

static int64_t getCount(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

static int64_t getLastSize(Value value) { return getShape(value).back(); }

static OpResult getResult(Operation *op, unsigned index = 0) {
  return op->getResult(index);
}

void ProgramLowering::emitCall(const Call &call) {
  FloatAttr flops;
  if (auto cost = dyn_cast<CostOpInterface>(current))
    flops = builder.getF64FloatAttr(cost.getFlops());
  plan::CallOp::create(builder, current->getLoc(),
                       builder.getStringAttr(getImplementation(current)),
                       call.buffers,
                       builder.getDenseI32ArrayAttr(call.accesses),
                       builder.getDenseI64ArrayAttr(call.ints),
                       builder.getDenseF64ArrayAttr(call.floats),
                       getScopeAttr(), flops, FloatAttr());
}

void ProgramLowering::lowerKernelCall(weft::CallOp op) {
  SmallVector<Value> inputs, outputs;
  for (Value input : op.getInputs())
    inputs.push_back(getDense(input));
  for (OpResult result : op->getResults())
    outputs.push_back(getDestination(result));
  auto kernel = symbols.lookup<KernelOp>(op.getKernelAttr().getAttr());
  auto launch = plan::LaunchOp::create(
      builder, op.getLoc(), op.getKernelAttr(), inputs, outputs, IntegerAttr(),
      IntegerAttr(), getScopeAttr(), FloatAttr(), FloatAttr());
  if (auto extent = kernel->getAttrOfType<IntegerAttr>("weft.extent"))
    launch.setExtentAttr(extent);
  if (auto grain = kernel->getAttrOfType<IntegerAttr>("weft.grain"))
    launch.setGrainAttr(grain);
}

//===----------------------------------------------------------------------===//
// Accumulation
//===----------------------------------------------------------------------===//

/// The accumulate mode for a flag: known at compile time, or 2.
static int64_t getAccumulateMode(Value flag) {
  DenseElementsAttr constant;
  if (!matchPattern(flag, m_Constant(&constant)) || !constant.isSplat())
    return 2;
  return constant.getSplatValue<APFloat>().isZero() ? 0 : 1;
}

/// The bytes of the old contents, or of a copy of them.
ValueBuffer ProgramLowering::getFoldedDestination(AccumulateOp op) {
  OpResult result = getResult(op);
  if (facts.stateValues.contains(result)) {
    getDestination(result);
    return buffers[result];
  }
  buffers[result] = materialize(op.getOld(), getBuffer(op.getOld()));
  reportCopy("old contents that an accumulation may not overwrite");
  return buffers[result];
}

void ProgramLowering::lowerFolded(AccumulateOp op) {
  int64_t mode = getAccumulateMode(op.getAccumulate());
  Value flag = mode == 2 ? getDense(op.getAccumulate()) : Value();
  ValueBuffer target = getFoldedDestination(op);
  Operation *producer = current = findFoldableProducer(op);
  auto type = cast<RankedTensorType>(producer->getResult(0).getType());
  ValueBuffer buffer = {target.root, plan::Layout::getDense(type.getShape())};
  if (auto matmul = dyn_cast<MatmulOp>(producer))
    lowerMatmul(matmul, buffer, flag, mode);
  else
    lowerEmbeddingGrad(cast<EmbeddingGradOp>(producer), getView(buffer), flag,
                       mode);
  ++counts->folded;
}

void ProgramLowering::lowerAccumulate(AccumulateOp op) {
  if (isFolded(op))
    return lowerFolded(op);
  Call call;
  call.read(getDense(op.getOld()));
  call.read(getDense(op.getValue()));
  call.read(getDense(op.getAccumulate()));
  call.write(getDestination(getResult(op)));
  call.ints = {getCount(op.getResult()), getDType(op.getResult())};
  emitCall(call);
}

//===----------------------------------------------------------------------===//
// Tables and losses
//===----------------------------------------------------------------------===//

void ProgramLowering::lowerEmbedding(EmbeddingOp op) {
  Call call;
  call.read(getDense(op.getTable()));
  call.read(getDense(op.getIds()));
  call.write(getDestination(getResult(op)));
  auto table = cast<RankedTensorType>(op.getTable().getType());
  call.ints = {getCount(op.getIds()), table.getDimSize(0), table.getDimSize(1),
               getDType(op.getIds()), getDType(op.getTable())};
  emitCall(call);
}

void ProgramLowering::lowerEmbeddingGrad(EmbeddingGradOp op, Value target,
                                         Value flag, int64_t accumulate) {
  Call call;
  call.read(getDense(op.getGrad()));
  call.read(getDense(op.getIds()));
  call.add(target,
           accumulate == 0 ? plan::Access::Write : plan::Access::Update);
  if (accumulate == 2)
    call.read(flag);
  auto table = cast<RankedTensorType>(op.getResult().getType());
  call.ints = {
      getCount(op.getIds()),   table.getDimSize(0), table.getDimSize(1),
      getDType(op.getIds()),   accumulate,          getDType(op.getGrad()),
      getDType(op.getResult())};
  emitCall(call);
}

/// The integers and floats that the loss and its gradient share.
template <typename OpT>
static void addLossNumbers(OpT op, SmallVectorImpl<int64_t> &ints,
                           SmallVectorImpl<double> &floats) {
  ints.append({getCount(op.getTargets()), getLastSize(op.getLogits()),
               static_cast<int64_t>(op.getIgnoreIndex()),
               op.getReduction() == LossReduction::Sum,
               op.getWeight() != Value(), getDType(op.getTargets()),
               getDType(op.getLogits())});
  floats.push_back(op.getLabelSmoothing().convertToDouble());
}

void ProgramLowering::lowerCrossEntropy(CrossEntropyOp op) {
  Call call;
  call.read(getDense(op.getLogits()));
  call.read(getDense(op.getTargets()));
  for (OpResult result : op->getResults())
    call.write(getDestination(result));
  if (op.getWeight())
    call.read(getDense(op.getWeight()));
  addLossNumbers(op, call.ints, call.floats);
  emitCall(call);
}

void ProgramLowering::lowerCrossEntropyGrad(CrossEntropyGradOp op) {
  Call call;
  for (Value operand : {op.getGrad(), op.getLogits(), op.getTargets(),
                        op.getLse(), op.getDenom()})
    call.read(getDense(operand));
  Value weight = op.getWeight() ? getDense(op.getWeight()) : Value();
  call.write(getDestination(getResult(op)));
  if (weight)
    call.read(weight);
  addLossNumbers(op, call.ints, call.floats);
  emitCall(call);
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

LogicalResult ProgramLowering::lowerDropout(DropoutOp op) {
  if (!op.getRng())
    return op.emitOpError("expects a random key (weft-derive-programs attaches "
                          "it), but got none");
  Call call;
  call.read(getDense(op.getOperand()));
  call.read(getDense(op.getRng()));
  call.write(getDestination(getResult(op)));
  auto type = cast<RankedTensorType>(op.getOperand().getType());
  int64_t rows = type.getRank() == 0 ? 1 : type.getDimSize(0);
  call.ints = {rows, type.getNumElements() / std::max<int64_t>(rows, 1),
               static_cast<int64_t>(op.getOpId()), getDType(op.getOperand())};
  call.floats = {op.getP().convertToDouble()};
  emitCall(call);
  return success();
}

void ProgramLowering::lowerRandom(Operation *op, StringRef key, double first,
                                  double second) {
  Call call;
  call.read(getDense(op->getOperand(0)));
  call.write(getDestination(getResult(op)));
  call.ints = {getCount(op->getResult(0)),
               static_cast<int64_t>(philoxNameHash(key.data(), key.size())),
               /*firstElement=*/0};
  call.floats = {first, second};
  emitCall(call);
}

LogicalResult ProgramLowering::lowerLibraryOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](weft::CallOp o) { return lowerKernelCall(o), success(); })
      .Case([&](MatmulOp o) {
        ValueBuffer target = getStridedDestination(getResult(o));
        return lowerMatmul(o, target, Value(), /*accumulate=*/0), success();
      })
      .Case([&](AttentionOp o) { return lowerAttention(o), success(); })
      .Case([&](AttentionGradOp o) { return lowerAttentionGrad(o), success(); })
      .Case([&](AccumulateOp o) { return lowerAccumulate(o), success(); })
      .Case([&](EmbeddingOp o) { return lowerEmbedding(o), success(); })
      .Case([&](EmbeddingGradOp o) {
        Value target = getDestination(getResult(o));
        return lowerEmbeddingGrad(o, target, Value(), 0), success();
      })
      .Case([&](CrossEntropyOp o) { return lowerCrossEntropy(o), success(); })
      .Case([&](CrossEntropyGradOp o) {
        return lowerCrossEntropyGrad(o), success();
      })
      .Case([&](DropoutOp o) { return lowerDropout(o); })
      .Case([&](RandomNormalOp o) {
        lowerRandom(o, o.getKey(), o.getMean().convertToDouble(),
                    o.getStd().convertToDouble());
        return success();
      })
      .Case([&](RandomUniformOp o) {
        lowerRandom(o, o.getKey(), o.getLow().convertToDouble(),
                    o.getHigh().convertToDouble());
        return success();
      })
      .Case([&](NormAndCheckOp o) { return lowerNormAndCheck(o), success(); })
      .Case([&](TotalNormOp o) { return lowerTotalNorm(o), success(); })
      .Case([&](ScalerUpdateOp o) { return lowerScalerUpdate(o), success(); })
      .Case([&](ClipCoefficientOp o) {
        return lowerClipCoefficient(o), success();
      })
      .Case([&](StepIncrementOp o) { return lowerStepIncrement(o), success(); })
      .Case([&](AdamWOp o) {
        lowerOptimizer(o, 3, {}, o.getLrScale().convertToDouble(),
                       o.getDecayScale().convertToDouble());
        return success();
      })
      .Case([&](AdamOp o) {
        lowerOptimizer(o, 3, {}, o.getLrScale().convertToDouble(),
                       o.getDecayScale().convertToDouble());
        return success();
      })
      .Case([&](SgdOp o) {
        lowerOptimizer(o, 2, {o.getNesterov() ? 1 : 0},
                       o.getLrScale().convertToDouble(),
                       o.getDecayScale().convertToDouble());
        return success();
      })
      .Case([&](ConcatOp o) { return lowerConcat(o), success(); })
      .Case([&](PadOp o) { return lowerPad(o), success(); })
      .Default([](Operation *) -> LogicalResult {
        llvm_unreachable("an op with a routine but no argument list");
      });
}

} // namespace weft
