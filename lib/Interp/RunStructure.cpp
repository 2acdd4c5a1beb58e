//===- RunStructure.cpp - State, constants, calls -------------------------===//

#include "OpFunctions.h"

using namespace mlir;
using namespace weft;

InFlightDiagnostic weft::reportNoValue(Operation *op, StringRef state) {
  return op->emitOpError() << "reads '@" << state
                           << "', which has no value; run an init program or "
                              "give its initial state";
}

static LogicalResult evaluateRead(OpCall &call) {
  StringRef name = call.as<ReadOp>().getSource();
  const Tensor *state = call.interpreter.findState(name);
  if (!state)
    return reportNoValue(call.op, name);
  if (!state->hasType(cast<RankedTensorType>(call.op->getResult(0).getType())))
    return call.fail() << "expects '@" << name << "' to have the type "
                       << call.op->getResult(0).getType() << ", but got "
                       << state->typeText();
  call.result() = *state;
  return success();
}

static LogicalResult writeElements(OpCall &call, ElementsAttr elements) {
  auto values = dyn_cast<DenseElementsAttr>(elements);
  if (!values)
    return call.fail() << "expects dense values, but got " << elements;
  Tensor &result = call.result();
  int64_t i = 0;
  if (result.isFloat()) {
    for (APFloat element : values.getValues<APFloat>()) {
      bool losesInfo;
      element.convert(llvm::APFloat::IEEEdouble(),
                      llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      result.at(i++) = element.convertToDouble();
    }
    return success();
  }
  for (APInt element : values.getValues<APInt>())
    result.intAt(i++) = element.getBitWidth() == 1 ? element.getZExtValue()
                                                   : element.getSExtValue();
  return success();
}

template <typename OpT> static LogicalResult evaluateConstant(OpCall &call) {
  return writeElements(call, cast<ElementsAttr>(call.as<OpT>().getValueAttr()));
}

LogicalResult weft::evaluateKernel(OpCall &call, FlatSymbolRefAttr name) {
  auto kernel = dyn_cast_or_null<KernelOp>(SymbolTable::lookupSymbolIn(
      call.interpreter.getModule(), name.getAttr()));
  if (!kernel)
    return call.fail() << "expects a weft.kernel, but got " << name;
  FailureOr<SmallVector<Tensor>> results =
      call.interpreter.evaluateBlock(kernel.getBody().front(), call.operands);
  if (failed(results))
    return failure();
  call.results = std::move(*results);
  return success();
}

/// The kernels of a group in order, on their parts of the operands.
static LogicalResult evaluateGroup(OpCall &call, KernelGroupOp group) {
  SmallVector<Tensor> results;
  ArrayRef<const Tensor *> operands(call.operands);
  for (auto name : group.getKernels().getAsRange<FlatSymbolRefAttr>()) {
    auto kernel = dyn_cast_or_null<KernelOp>(SymbolTable::lookupSymbolIn(
        call.interpreter.getModule(), name.getAttr()));
    if (!kernel)
      return call.fail() << "expects a weft.kernel, but got " << name;
    const size_t count = kernel.getArgumentTypes().size();
    FailureOr<SmallVector<Tensor>> own = call.interpreter.evaluateBlock(
        kernel.getBody().front(), operands.take_front(count));
    if (failed(own))
      return failure();
    operands = operands.drop_front(count);
    llvm::append_range(results, std::move(*own));
  }
  call.results = std::move(results);
  return success();
}

static LogicalResult evaluateCall(OpCall &call) {
  if (isa<KernelOp>(call.op->getParentOp()))
    return call.fail() << "expects to be in a program, but is in a kernel";
  return evaluateKernel(call, call.as<CallOp>().getKernelAttr());
}

static LogicalResult evaluateLaunch(OpCall &call) {
  if (auto group = dyn_cast_or_null<KernelGroupOp>(SymbolTable::lookupSymbolIn(
          call.interpreter.getModule(),
          call.as<plan::LaunchOp>().getKernelAttr().getAttr())))
    return evaluateGroup(call, group);
  return evaluateKernel(call, call.as<plan::LaunchOp>().getKernelAttr());
}

static LogicalResult copyOperand(OpCall &call) {
  call.result() = call.operand(0);
  return success();
}

void weft::addStructureOps(MLIRContext *context) {
  interpretAs<ReadOp>(context, evaluateRead);
  interpretAs<ConstantOp>(context, evaluateConstant<ConstantOp>);
  interpretAs<CallOp>(context, evaluateCall);
  interpretAs<MaterializeOp>(context, copyOperand);
}

void weft::addStructureCommands(MLIRContext *context) {
  interpretAs<plan::ConstantOp>(context, evaluateConstant<plan::ConstantOp>);
  interpretAs<plan::CopyOp>(context, copyOperand);
  interpretAs<plan::LaunchOp>(context, evaluateLaunch);
}
