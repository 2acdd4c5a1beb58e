//===- StructureOps.cpp - State, constants, calls -------------------------===//

#include "OpTable.h"

namespace weft {

static llvm::LogicalResult evaluateRead(OpCall &call) {
  llvm::StringRef name = call.as<ReadOp>().getSource();
  const Tensor *state = call.interpreter.findState(name);
  if (!state)
    return call.fail() << "reads '@" << name
                       << "', which has no value; run an init program or give "
                          "its initial state";
  if (!state->hasType(
          llvm::cast<mlir::RankedTensorType>(call.op->getResult(0).getType())))
    return call.fail() << "expects '@" << name << "' to have the type "
                       << call.op->getResult(0).getType() << ", but got "
                       << state->typeText();
  call.result() = *state;
  return llvm::success();
}

static llvm::LogicalResult evaluateConstant(OpCall &call) {
  // The op's verifier admits nothing else.
  auto values =
      llvm::cast<mlir::DenseElementsAttr>(call.as<ConstantOp>().getValue());
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

static llvm::LogicalResult evaluateCall(OpCall &call) {
  if (llvm::isa<KernelOp>(call.op->getParentOp()))
    return call.fail() << "expects to be in a program, but is in a kernel";
  // The verifier of weft.call has seen that the kernel is there.
  auto kernel = mlir::SymbolTable::lookupNearestSymbolFrom<KernelOp>(
      call.op, call.as<CallOp>().getKernelAttr());
  llvm::FailureOr<llvm::SmallVector<Tensor>> results =
      call.interpreter.evaluateBlock(kernel.getBody().front(), call.operands,
                                     /*observed=*/false);
  if (failed(results))
    return llvm::failure();
  call.results = std::move(*results);
  return llvm::success();
}

static llvm::LogicalResult copyOperand(OpCall &call) {
  call.result() = call.operand(0);
  return llvm::success();
}

void addStructureOps(OpTable &table) {
  table["weft.read"] = evaluateRead;
  table["weft.constant"] = evaluateConstant;
  table["weft.call"] = evaluateCall;
  table["weft.fence"] = copyOperand;
}

} // namespace weft
