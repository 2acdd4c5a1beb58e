//===- LowerMatrixCommands.cpp - Matrix products and attention ------------===//

#include "ProgramLowering.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The factor, or a dense copy of it if its strides do not allow a product.
Value ProgramLowering::getFactor(Value value) {
  if (!StoredMatrix::get(getBuffer(value).layout, /*flat=*/false))
    getDense(value);
  return getView(getBuffer(value));
}

template <typename OpT>
void ProgramLowering::emitProduct(OpT op, ValueBuffer target,
                                  Accumulation accumulation,
                                  const ProductExtras &extras) {
  Value lhs = getFactor(op.getLhs()), rhs = getFactor(op.getRhs());
  Value bias = op.getBias() ? getDense(op.getBias()) : Value();
  auto unit = [&](bool set) {
    return set ? builder.getUnitAttr() : UnitAttr();
  };
  emit<plan::GemmOp>(lhs, rhs, getView(target), bias, extras.aux,
                     extras.columnSum, extras.lhsSum, extras.rhsSum,
                     accumulation.flag, /*workspace=*/Value(),
                     unit(op.getTransposeLhs()), unit(op.getTransposeRhs()),
                     unit(accumulation.adds),
                     plan::EpilogueAttr::get(op.getContext(), extras.epilogue),
                     /*beside_collectives=*/UnitAttr());
}

void ProgramLowering::lowerProduct(Operation *op, ValueBuffer target,
                                   Accumulation accumulation) {
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return emitProduct(matmul, target, accumulation, {});
  auto gemm = cast<GemmOp>(op);
  auto write = [&](Value result) {
    return result ? getDestination(cast<OpResult>(result)) : Value();
  };
  ProductExtras extras;
  extras.epilogue = gemm.getEpilogue();
  // The command's aux is the sum beside an activation.
  extras.aux = gemm.getAux() ? getDense(gemm.getAux()) : write(gemm.getSum());
  extras.columnSum = write(gemm.getColumnSum());
  extras.lhsSum = write(gemm.getLhsSum());
  extras.rhsSum = write(gemm.getRhsSum());
  emitProduct(gemm, target, accumulation, extras);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

ValueBuffer ProgramLowering::getAttentionOperand(Value value) {
  ValueBuffer buffer = getBuffer(value);
  if (buffer.layout.sizes.back() == 1 || buffer.layout.strides.back() == 1)
    return buffer;
  getDense(value);
  return getBuffer(value);
}

void ProgramLowering::lowerAttention(AttentionOp op) {
  ValueBuffer query = getAttentionOperand(op.getQuery());
  ValueBuffer key = getAttentionOperand(op.getKey());
  ValueBuffer value = getAttentionOperand(op.getValue());
  Value lse = getDestination(cast<OpResult>(op.getLse()));
  Value out = getDestination(cast<OpResult>(op.getOut()));
  Value rng =
      op.getDropout().convertToDouble() > 0 ? getDense(op.getRng()) : Value();
  Value segments = op.getSegments() ? getDense(op.getSegments()) : Value();
  // Nothing reads them if the backward pass recomputes the op, or needs no
  // gradient of it.
  Value bits = op.getBits() && !op.getBits().use_empty()
                   ? getDestination(cast<OpResult>(op.getBits()))
                   : Value();
  emit<plan::AttentionOp>(getView(query), getView(key), getView(value), out,
                          lse, rng, segments, bits, /*workspace=*/Value(),
                          op.getScaleAttr(), op.getCausalAttr(),
                          op.getWindowAttr(), op.getSoftcapAttr(),
                          op.getDropoutAttr(), op.getOpIdAttr());
}

void ProgramLowering::lowerAttentionGrad(AttentionGradOp op) {
  ValueBuffer query = getAttentionOperand(op.getQuery());
  ValueBuffer key = getAttentionOperand(op.getKey());
  ValueBuffer value = getAttentionOperand(op.getValue());
  ValueBuffer out = getAttentionOperand(op.getOut());
  ValueBuffer grad = getAttentionOperand(op.getGrad());
  Value lse = getDense(op.getLse());
  SmallVector<Value> targets;
  for (OpResult result : op->getResults())
    targets.push_back(getDestination(result));
  Value bits = op.getBits() ? getDense(op.getBits()) : Value();
  Value rng = !bits && op.getDropout().convertToDouble() > 0
                  ? getDense(op.getRng())
                  : Value();
  Value segments = op.getSegments() ? getDense(op.getSegments()) : Value();
  emit<plan::AttentionGradOp>(
      getView(grad), getView(query), getView(key), getView(value), getView(out),
      lse, targets[0], targets[1], targets[2], rng, segments, bits,
      /*workspace=*/Value(), op.getScaleAttr(), op.getCausalAttr(),
      op.getWindowAttr(), op.getSoftcapAttr(), op.getDropoutAttr(),
      op.getOpIdAttr());
}
