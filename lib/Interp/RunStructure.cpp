//===- RunStructure.cpp - State, constants, calls -------------------------===//

#include "OpFunctions.h"

namespace weft {

mlir::InFlightDiagnostic reportNoValue(mlir::Operation *op,
                                       llvm::StringRef state) {
  return op->emitOpError() << "reads '@" << state
                           << "', which has no value; run an init program or "
                              "give its initial state";
}

static llvm::LogicalResult evaluateRead(OpCall &call) {
  llvm::StringRef name = call.as<ReadOp>().getSource();
  const Tensor *state = call.interpreter.findState(name);
  if (!state)
    return reportNoValue(call.op, name);
  if (!state->hasType(
          llvm::cast<mlir::RankedTensorType>(call.op->getResult(0).getType())))
    return call.fail() << "expects '@" << name << "' to have the type "
                       << call.op->getResult(0).getType() << ", but got "
                       << state->typeText();
  call.result() = *state;
  return llvm::success();
}

static llvm::LogicalResult writeElements(OpCall &call,
                                         mlir::ElementsAttr elements) {
  auto values = llvm::dyn_cast<mlir::DenseElementsAttr>(elements);
  if (!values)
    return call.fail() << "expects dense values, but got " << elements;
  Tensor &result = call.result();
  int64_t i = 0;
  if (result.isFloat()) {
    for (llvm::APFloat element : values.getValues<llvm::APFloat>()) {
      bool losesInfo;
      element.convert(llvm::APFloat::IEEEdouble(),
                      llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      result.at(i++) = element.convertToDouble();
    }
    return llvm::success();
  }
  for (llvm::APInt element : values.getValues<llvm::APInt>())
    result.intAt(i++) = element.getBitWidth() == 1 ? element.getZExtValue()
                                                   : element.getSExtValue();
  return llvm::success();
}

template <typename OpT>
static llvm::LogicalResult evaluateConstant(OpCall &call) {
  return writeElements(
      call, llvm::cast<mlir::ElementsAttr>(call.as<OpT>().getValueAttr()));
}

llvm::LogicalResult evaluateKernel(OpCall &call, mlir::FlatSymbolRefAttr name) {
  auto kernel =
      llvm::dyn_cast_or_null<KernelOp>(mlir::SymbolTable::lookupSymbolIn(
          call.interpreter.getModule(), name.getAttr()));
  if (!kernel)
    return call.fail() << "expects a weft.kernel, but got " << name;
  llvm::FailureOr<llvm::SmallVector<Tensor>> results =
      call.interpreter.evaluateBlock(kernel.getBody().front(), call.operands);
  if (failed(results))
    return llvm::failure();
  call.results = std::move(*results);
  return llvm::success();
}

static llvm::LogicalResult evaluateCall(OpCall &call) {
  if (llvm::isa<KernelOp>(call.op->getParentOp()))
    return call.fail() << "expects to be in a program, but is in a kernel";
  return evaluateKernel(call, call.as<CallOp>().getKernelAttr());
}

static llvm::LogicalResult evaluateLaunch(OpCall &call) {
  return evaluateKernel(call, call.as<plan::LaunchOp>().getKernelAttr());
}

static llvm::LogicalResult copyOperand(OpCall &call) {
  call.result() = call.operand(0);
  return llvm::success();
}

void addStructureOps(mlir::MLIRContext *context) {
  interpretAs<ReadOp>(context, evaluateRead);
  interpretAs<ConstantOp>(context, evaluateConstant<ConstantOp>);
  interpretAs<CallOp>(context, evaluateCall);
  interpretAs<MaterializeOp>(context, copyOperand);
}

void addStructureCommands(mlir::MLIRContext *context) {
  interpretAs<plan::ConstantOp>(context, evaluateConstant<plan::ConstantOp>);
  interpretAs<plan::CopyOp>(context, copyOperand);
  interpretAs<plan::LaunchOp>(context, evaluateLaunch);
}

} // namespace weft
