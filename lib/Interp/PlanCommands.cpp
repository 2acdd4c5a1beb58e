//===- PlanCommands.cpp - Commands that no weft op says alone -------------===//

#include "OpTable.h"

#include <cmath>

namespace weft {

//===----------------------------------------------------------------------===//
// Matrix product
//===----------------------------------------------------------------------===//

/// The derivative of geluTanh. With u = sqrt(2/pi) (x + 0.044715 x^3):
///   (1 + tanh u) / 2 + x (1 - tanh^2 u) u' / 2.
static double geluTanhSlope(double x) {
  double factor = std::sqrt(2 / M_PI);
  double t = std::tanh(factor * (x + 0.044715 * x * x * x));
  double slope = factor * (1 + 3 * 0.044715 * x * x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope;
}

static double applyEpilogue(plan::Epilogue epilogue, double sum, double aux) {
  switch (epilogue) {
  case plan::Epilogue::None:
    return sum;
  case plan::Epilogue::Relu:
    return relu(sum);
  case plan::Epilogue::ReluGrad:
    return aux <= 0 ? 0 : sum; // a NaN passes the sum on
  case plan::Epilogue::Gelu:
    return geluTanh(sum);
  case plan::Epilogue::GeluGrad:
    return sum * geluTanhSlope(aux);
  }
  llvm_unreachable("an epilogue without a formula");
}

namespace {
/// The tensors of a product by name; null where it has none.
struct ProductTensors {
  const Tensor *lhs, *rhs, *old = nullptr, *bias = nullptr, *aux = nullptr,
                           *flag = nullptr;
  Tensor *target, *sum = nullptr, *columnSum = nullptr;

  explicit ProductTensors(OpCall &call) {
    auto op = call.as<plan::GemmOp>();
    auto command = call.as<plan::CommandOpInterface>();
    unsigned nextOperand = 0, nextResult = 0;
    auto read = [&](mlir::MutableOperandRange range) -> const Tensor * {
      bool has = !range.empty() && command.isRead(range[0].getOperandNumber());
      return has ? &call.operand(nextOperand++) : nullptr;
    };
    auto write = [&](mlir::MutableOperandRange range) -> Tensor * {
      bool has =
          !range.empty() && command.isWritten(range[0].getOperandNumber());
      return has ? &call.result(nextResult++) : nullptr;
    };
    lhs = &call.operand(nextOperand++);
    rhs = &call.operand(nextOperand++);
    if (op.accumulates())
      old = &call.operand(nextOperand++);
    bias = read(op.getBiasMutable());
    aux = read(op.getAuxMutable());
    flag = read(op.getFlagMutable());
    target = &call.result(nextResult++);
    sum = write(op.getAuxMutable());
    columnSum = write(op.getColumnSumMutable());
  }
};
} // namespace

static llvm::LogicalResult evaluateGemm(OpCall &call) {
  auto op = call.as<plan::GemmOp>();
  ProductTensors tensors(call);
  Tensor &target = *tensors.target;
  if (tensors.bias)
    fillRows(target, *tensors.bias);
  addProducts(*tensors.lhs, op.getTransposeLhs(), *tensors.rhs,
              op.getTransposeRhs(), target);
  bool adds = tensors.old && (!tensors.flag || tensors.flag->at(0) != 0);
  for (int64_t i = 0; i < target.size(); ++i) {
    double sum = target.at(i) + (adds ? tensors.old->at(i) : 0);
    if (tensors.sum)
      tensors.sum->at(i) = sum;
    target.at(i) = applyEpilogue(op.getEpilogue(), sum,
                                 tensors.aux ? tensors.aux->at(i) : 0);
  }
  if (!tensors.columnSum)
    return llvm::success();
  // Of what the target holds: of rounded elements.
  if (call.interpreter.getMode() == ComputeMode::F32)
    target.roundElements();
  int64_t columns = tensors.columnSum->size();
  for (int64_t i = 0; i < target.size(); ++i)
    tensors.columnSum->at(i % columns) += target.at(i);
  return llvm::success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static llvm::LogicalResult evaluateLaunch(OpCall &call) {
  return evaluateKernel(call, call.as<plan::LaunchOp>().getKernelAttr());
}

void addPlanCommands(OpTable &table) {
  table["plan.gemm"] = evaluateGemm;
  table["plan.launch"] = evaluateLaunch;
}

} // namespace weft
