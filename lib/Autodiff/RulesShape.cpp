//===- RulesShape.cpp - Adjoints of reductions and shape ops --------------===//

#include "Adjoint.h"

using namespace mlir;
using namespace weft;

namespace {

/// Shape of the operand with size 1 along the reduced dimensions.
SmallVector<int64_t> keptShape(ReduceOp op) {
  SmallVector<int64_t> shape(shapeOf(op.getOperand()));
  for (int64_t dim : op.getDims())
    shape[dim] = 1;
  return shape;
}

/// Every element equal to the extremum gets an equal share of g. No element
/// equals a NaN extremum, so all gradients of that reduction are NaN, as with
/// torch.amax.
Value extremumShare(ReduceOp op, Value grad, ArrayRef<int64_t> kept,
                    Adjoint &a) {
  Value x = op.getOperand();
  Value extremum = a.reshape(op.getResult(), kept);
  Value hit = a.compare(Predicate::EQ, x, extremum);
  Value ones = a.cast(hit, elementTypeOf(grad));
  Value count =
      a.reduce(ReduceKind::Sum, ones, op.getDims(), /*keepDims=*/true);
  return a.mul(a.div(grad, count), ones);
}

LogicalResult reduceRule(ReduceOp op, Adjoint &a) {
  ArrayRef<int64_t> shape = shapeOf(op.getOperand());
  SmallVector<int64_t> kept = keptShape(op);
  Value grad = a.reshape(a.grad(), kept);
  if (op.getKind() == ReduceKind::Max || op.getKind() == ReduceKind::Min) {
    a.set(0, extremumShare(op, a.wide(grad), kept, a));
    return success();
  }
  if (op.getKind() == ReduceKind::Mean) {
    int64_t count = 1;
    for (int64_t dim : op.getDims())
      count *= shape[dim];
    Value all = a.wide(grad);
    Value share = a.div(all, a.constant(static_cast<double>(count), all));
    grad = a.cast(share, elementTypeOf(grad));
  }
  a.set(0, a.broadcast(grad, shape));
  return success();
}

/// Adjoint::set sums back.
LogicalResult broadcastRule(BroadcastOp, Adjoint &a) {
  a.set(0, a.grad());
  return success();
}

/// The copy is of the forward value.
LogicalResult materializeRule(MaterializeOp, Adjoint &a) {
  a.set(0, a.grad());
  return success();
}

LogicalResult reshapeRule(ReshapeOp op, Adjoint &a) {
  a.set(0, a.reshape(a.grad(), shapeOf(op.getOperand())));
  return success();
}

LogicalResult transposeRule(TransposeOp op, Adjoint &a) {
  ArrayRef<int64_t> permutation = op.getPermutation();
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [to, from] : llvm::enumerate(permutation))
    inverse[from] = static_cast<int64_t>(to);
  a.set(0, a.transpose(a.grad(), inverse));
  return success();
}

/// Zeros where the slice took nothing.
LogicalResult sliceRule(SliceOp op, Adjoint &a) {
  SmallVector<int64_t> high, interior;
  for (auto [full, offset, size, stride] :
       llvm::zip_equal(shapeOf(op.getOperand()), op.getOffsets(), op.getSizes(),
                       op.getStrides())) {
    high.push_back(full - (offset + (size - 1) * stride + 1));
    interior.push_back(stride - 1);
  }
  a.set(0, a.make<PadOp>(a.grad(), op.getOffsets(), ArrayRef<int64_t>(high),
                         ArrayRef<int64_t>(interior)));
  return success();
}

LogicalResult padRule(PadOp op, Adjoint &a) {
  SmallVector<int64_t> strides;
  for (int64_t interior : op.getInterior())
    strides.push_back(interior + 1);
  a.set(0, a.make<SliceOp>(a.grad(), op.getLow(), shapeOf(op.getOperand()),
                           ArrayRef<int64_t>(strides)));
  return success();
}

LogicalResult concatRule(ConcatOp op, Adjoint &a) {
  SmallVector<int64_t> offsets(tensorType(op.getResult()).getRank(), 0);
  SmallVector<int64_t> strides(offsets.size(), 1);
  int64_t dim = static_cast<int64_t>(op.getDim());
  for (auto [index, input] : llvm::enumerate(op.getInputs())) {
    if (a.needs(index))
      a.set(index, a.make<SliceOp>(a.grad(), ArrayRef<int64_t>(offsets),
                                   shapeOf(input), ArrayRef<int64_t>(strides)));
    offsets[dim] += shapeOf(input)[dim];
  }
  return success();
}

} // namespace

void weft::attachShapeRules(MLIRContext *context) {
  attachRule<ReduceOp, reduceRule>(context);
  attachRule<BroadcastOp, broadcastRule>(context);
  attachRule<MaterializeOp, materializeRule>(context);
  attachRule<ReshapeOp, reshapeRule>(context);
  attachRule<TransposeOp, transposeRule>(context);
  attachRule<SliceOp, sliceRule>(context);
  attachRule<PadOp, padRule>(context);
  attachRule<ConcatOp, concatRule>(context);
}
